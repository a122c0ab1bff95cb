package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// burst is one push of many commits, which is made again and again: after each
// the server is put back to what it was.
type burst struct {
	name    string
	trailer func(i int) string // of the i-th commit
}

func bursts() []burst {
	const shadow = "\nNav-Watchdog: app=web deadline=600\n"
	return []burst{
		{"no trailer", func(int) string { return "" }},
		{"each tenth shadow", func(i int) string {
			if i%10 == 0 {
				return shadow
			}
			return ""
		}},
		{"all shadow", func(int) string { return shadow }},
	}
}

// measureBursts pushes c.burst commits in one push.
func (c config) measureBursts(ctx context.Context, b *bench) error {
	for _, u := range bursts() {
		tip, err := b.line(ctx, c.burst, u.trailer)
		if err != nil {
			return err
		}
		if err := c.pushBurst(ctx, b, u.name, b.tip, tip); err != nil {
			return fmt.Errorf("pushing, %s: %w", u.name, err)
		}
	}
	return nil
}

// pushBurst measures the push that moves main from one commit to another.
func (c config) pushBurst(ctx context.Context, b *bench, name, from, to string) error {
	used := map[string][]time.Duration{}
	for round := range c.pushes + 1 { // the first warms the caches
		for _, h := range []string{hooksNone, hooksLog, hooksOurs} {
			was, err := b.objects()
			if err != nil {
				return err
			}
			cpu, err := b.measured(ctx, h, to)
			if err != nil {
				return fmt.Errorf("with %s: %w", h, err)
			}
			if round > 0 {
				used[h] = append(used[h], cpu)
			}
			if err := b.putBack(ctx, from, was); err != nil {
				return fmt.Errorf("putting the server back: %w", err)
			}
		}
	}
	return c.row(name, used)
}

// line makes commits on top of main in the clone.
func (b *bench) line(ctx context.Context, n int, trailer func(int) string) (tip string, err error) {
	var s bytes.Buffer
	for i := range n {
		text := fmt.Sprintf("Push %d\n\nThe body of commit %d.\n%s", i, i, trailer(i))
		fmt.Fprintf(&s, "commit refs/heads/burst\ncommitter Bench <bench@example.com> %d +0000\ndata %d\n%s", 1_700_000_000+i, len(text), text)
		if i == 0 {
			fmt.Fprintf(&s, "from %s\n", b.tip)
		}
		data := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {n: %q}\n", fmt.Sprint(i))
		fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", changed, len(data), data)
	}
	if _, err := b.git(ctx, s.String(), "-C", b.clone, "fast-import", "--quiet", "--force"); err != nil {
		return "", err
	}
	return b.git(ctx, "", "-C", b.clone, "rev-parse", "refs/heads/burst")
}

// objects are the files of the server's objects.
func (b *bench) objects() (map[string]bool, error) {
	files := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(b.server, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[path] = true
		}
		return err
	})
	return files, err
}

// putBack takes away what a push brought: main as it was, no notes, and of the
// objects only those that were there.
func (b *bench) putBack(ctx context.Context, main string, was map[string]bool) error {
	if _, err := b.git(ctx, "", "-C", b.server, "update-ref", "refs/heads/main", main); err != nil {
		return err
	}
	notes, err := b.git(ctx, "", "-C", b.server, "for-each-ref", "--format=delete %(refname)", "refs/notes/nav/")
	if err != nil {
		return err
	}
	if _, err := b.git(ctx, notes+"\n", "-C", b.server, "update-ref", "--stdin"); notes != "" && err != nil {
		return err
	}
	now, err := b.objects()
	if err != nil {
		return err
	}
	for path := range now {
		if was[path] {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// measureReal pushes the newest commits of a real repository.
func (c config) measureReal(ctx context.Context, b *bench) error {
	list, err := b.git(ctx, "", "-C", b.clone, "rev-list", "--first-parent", "HEAD")
	if err != nil {
		return err
	}
	line := strings.Fields(list)
	low, high := 0, len(line)-1 // of the first parents, how far back brings enough
	for low < high {
		middle := (low + high) / 2
		n, err := b.git(ctx, "", "-C", b.clone, "rev-list", "--count", line[0], "^"+line[middle])
		if err != nil {
			return err
		}
		var count int
		if _, err := fmt.Sscan(n, &count); err != nil {
			return err
		}
		if count >= c.burst {
			high = middle
		} else {
			low = middle + 1
		}
	}
	base := line[low]
	n, err := b.git(ctx, "", "-C", b.clone, "rev-list", "--count", line[0], "^"+base)
	if err != nil {
		return err
	}
	if _, err := b.git(ctx, "", "-C", b.clone, "push", "-q", "--receive-pack=git -c core.hooksPath=/dev/null receive-pack", b.server, base+":refs/heads/main"); err != nil {
		return err
	}
	return c.pushBurst(ctx, b, n+" commits", base, line[0])
}
