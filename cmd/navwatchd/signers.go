package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
)

// signers is whose signature makes a notes ref count (notes: signed).
type signers struct {
	file string
	seen map[string]string // tip -> why it does not count; "" = it does
}

// notesRefs are those whose tips are looked at.
var notesRefs = [...]string{"verdicts", "watches", "people", "status"}

// trust finds out whose signatures count, and tries whether the watcher's own
// does: a daemon that would not believe itself must not start.
func (s *store) trust(ctx context.Context) error {
	file := s.watcher.AllowedSigners
	if file == "" {
		key, err := s.repo.PublicKey(ctx, s.sign)
		if err != nil {
			return err
		}
		file = filepath.Join(s.repo.Dir(), "nav-allowed-signers")
		line := "nav-watchdog namespaces=\"git\" " + key + "\n"
		if err := os.WriteFile(file, []byte(line), 0o644); err != nil {
			return fmt.Errorf("writing the allowed signers: %w", err)
		}
	} else {
		var err error
		if file, err = filepath.Abs(file); err == nil {
			_, err = os.Stat(file) // a missing one would read as: nobody
		}
		if err != nil {
			return fmt.Errorf("reading the allowed signers: %w", err)
		}
	}
	who := s.identity(time.Unix(1, 0))
	id, err := s.repo.WriteBlobCommit(ctx, nil, "nav: can this key sign", who)
	if err != nil {
		return fmt.Errorf("signing with the watcher's key: %w", err)
	}
	by, err := s.repo.SignedBy(ctx, id, file)
	if err != nil {
		return err
	}
	if by.Why != "" {
		return fmt.Errorf("what watcher.signing-key signs does not count: %s\nhint: %s must hold its public key, for the namespace git", by.Why, file)
	}
	s.signers = &signers{file: file, seen: map[string]string{}}
	return nil
}

// unsigned tells which notes refs, by their short names, do not count, and why.
// Whoever may sign vouches for the whole of a ref as it stands at that commit.
func (s *store) unsigned(ctx context.Context) (map[string]string, error) {
	if s.signers == nil {
		if err := s.trust(ctx); err != nil {
			return nil, err
		}
	}
	out, seen := map[string]string{}, map[string]string{}
	for _, name := range notesRefs {
		tip := s.refs[strings.TrimSuffix(gitstore.StatusRef, "status")+name]
		if tip == "" {
			continue
		}
		why, known := s.signers.seen[tip]
		if !known {
			by, err := s.repo.SignedBy(ctx, tip, s.signers.file)
			if err != nil {
				return nil, err
			}
			why = by.Why
		}
		if seen[tip] = why; why != "" {
			out[name] = fmt.Sprintf("its tip %.12s does not count: %s", tip, why)
		}
	}
	s.signers.seen = seen
	return out, nil
}
