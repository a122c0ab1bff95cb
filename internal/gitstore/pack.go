package gitstore

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// pack gathers new objects and hands all of them to one `git unpack-objects`:
// no ref moves, no pack stays behind, and an object that exists is left alone.
// Many objects become a pack, as of a push: a file for each would cost ten times
// as much, and gc the same once more.
// The format is git's pack version 2, whole objects only (gitformat-pack).
type pack struct {
	repo    *Repo
	objects []packed
	seen    map[string]bool
}

// packed is an object that is new. What its data lies in is not written to until
// the pack is.
type packed struct {
	kind string
	data []byte
}

// maxLoose is how many objects may be files of their own. What receives a push
// takes 100 (transfer.unpackLimit); here a pass would leave a pack each, and gc
// counts packs far lower than files.
const maxLoose = 1000

func (r *Repo) newPack() *pack { return &pack{repo: r, seen: map[string]bool{}} }

// add takes an object in and gives its id.
func (p *pack) add(kind string, data []byte) string {
	id := p.repo.objectID(kind, data)
	if !p.seen[id] {
		p.seen[id] = true
		p.objects = append(p.objects, packed{kind, data})
	}
	return id
}

// write stores what was gathered.
func (p *pack) write(ctx context.Context) error {
	if len(p.objects) == 0 {
		return nil
	}
	// unpack-objects compresses anew; only a pack that stays is worth it here.
	args, level := []string{"unpack-objects", "-q"}, zlib.NoCompression
	if len(p.objects) > maxLoose {
		args, level = []string{"index-pack", "--stdin", "--threads=1"}, zlib.BestSpeed
	}
	b, err := p.format(level)
	if err == nil {
		_, err = p.repo.output(ctx, command{args: args, stdin: b})
	}
	if err != nil {
		return fmt.Errorf("writing %d objects: %w", len(p.objects), err)
	}
	return nil
}

func (p *pack) format(level int) (*bytes.Buffer, error) {
	var b bytes.Buffer
	b.WriteString("PACK")
	_ = binary.Write(&b, binary.BigEndian, [2]uint32{2, uint32(len(p.objects))})
	deflate, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	for _, o := range p.objects {
		code := map[string]byte{"commit": 1, "tree": 2, "blob": 3}[o.kind]
		size := len(o.data)
		head := code<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(head | 0x80)
			head = byte(size & 0x7f)
		}
		b.WriteByte(head)
		deflate.Reset(&b)
		_, _ = deflate.Write(o.data) // to a buffer: cannot fail
		_ = deflate.Close()
	}
	sum := p.repo.newHash()
	sum.Write(b.Bytes())
	b.Write(sum.Sum(nil))
	return &b, nil
}

func (r *Repo) objectID(kind string, data []byte) string {
	h := r.newHash()
	h.Write(fmt.Appendf(nil, "%s %d\x00", kind, len(data)))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Identity is an author or committer.
type Identity struct {
	Name, Email string
	When        time.Time // written in UTC, to the second
	Key         string    // that signs what is committed to notes, as git's user.signingKey; "" = nothing does
}

// check refuses what would break a commit's header, or what git would have to
// make up.
func (i Identity) check() error {
	for _, s := range []string{i.Name, i.Email} {
		if strings.TrimSpace(s) == "" || strings.ContainsAny(s, "<>\n\x00") {
			return fmt.Errorf("%q <%q> is not a name and an address for a commit", i.Name, i.Email)
		}
	}
	if i.When.Unix() <= 0 {
		return errors.New("a commit needs a date after 1970")
	}
	return nil
}

func (i Identity) line() string {
	return fmt.Sprintf("%s <%s> %d +0000", strings.TrimSpace(i.Name), strings.TrimSpace(i.Email), i.When.Unix())
}

// commit takes in a commit whose author and committer are the same.
func (p *pack) commit(tree string, parents []string, message string, who Identity) (string, error) {
	if err := who.check(); err != nil {
		return "", err
	}
	if strings.Contains(message, "\x00") {
		return "", errors.New("a commit message cannot hold a NUL")
	}
	if tree == "" {
		tree = p.add("tree", nil)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, parent := range parents {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", who.line(), who.line(), message)
	if !strings.HasSuffix(message, "\n") {
		b.WriteByte('\n')
	}
	return p.add("commit", []byte(b.String())), nil
}

// finish writes what was gathered, and a commit on it.
func (p *pack) finish(ctx context.Context, tree string, parents []string, message string, who Identity) (string, error) {
	if who.Key == "" {
		id, err := p.commit(tree, parents, message, who)
		if err != nil {
			return "", err
		}
		return id, p.write(ctx)
	}
	if tree == "" {
		tree = p.add("tree", nil)
	}
	if err := p.write(ctx); err != nil {
		return "", err
	}
	return p.repo.commitTree(ctx, tree, parents, []byte(message), who, who, who.Key)
}

// WriteBlobCommit writes a commit whose tree is just these files, and moves no
// ref.
func (r *Repo) WriteBlobCommit(ctx context.Context, files map[string][]byte, message string, who Identity, parents ...string) (string, error) {
	if err := r.checkIDs(parents); err != nil {
		return "", fmt.Errorf("writing a commit: %w", err)
	}
	p := r.newPack()
	paths := make(map[string]Entry, len(files))
	for path, data := range files {
		if err := checkPath(path); err != nil {
			return "", fmt.Errorf("writing a commit: %w", err)
		}
		paths[path] = Entry{Mode: modeFile, ID: p.add("blob", data)}
	}
	ed := &editor{trees: &trees{}, pack: p}
	tree, err := ed.apply("", newEdit(paths), "")
	if err == nil && len(ed.conflicts) > 0 {
		err = fmt.Errorf("%q is both a file and a folder", ed.conflicts[0])
	}
	var id string
	if err == nil {
		id, err = p.finish(ctx, tree, parents, message, who)
	}
	if err != nil {
		return "", fmt.Errorf("writing a commit: %w", err)
	}
	return id, nil
}

// EmptyTree writes the empty tree and gives its id.
func (r *Repo) EmptyTree(ctx context.Context) (string, error) {
	p := r.newPack()
	id := p.add("tree", nil)
	if err := p.write(ctx); err != nil {
		return "", fmt.Errorf("writing the empty tree: %w", err)
	}
	return id, nil
}

// checkPath refuses what cannot be a path in a tree.
func checkPath(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return fmt.Errorf("%q is not a path in a tree", path)
		}
	}
	if strings.Contains(path, "\x00") {
		return fmt.Errorf("%q is not a path in a tree", path)
	}
	return nil
}
