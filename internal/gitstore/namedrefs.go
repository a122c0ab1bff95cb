package gitstore

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxPacked bounds the packed-refs that is read, in bytes: git finds a ref in a
// larger one faster.
const maxPacked = 1 << 20

// Refs is Repo.Refs, without a process where the refs are named one by one and
// each is a plain file or a line of packed-refs.
func (s Served) Refs(ctx context.Context, prefixes ...string) (map[string]string, error) {
	if refs, ok := s.namedRefs(prefixes); ok {
		return refs, nil
	}
	return s.Repo.Refs(ctx, prefixes...)
}

// namedRefs reads refs as git's files backend does: a file first, and what has
// none in packed-refs, because a ref that is being packed is in both for a while.
// false: git must be asked.
func (r *Repo) namedRefs(names []string) (map[string]string, bool) {
	if len(names) == 0 || exists(r.gitDir, "commondir") || exists(r.gitDir, "reftable") {
		return nil, false
	}
	refs := map[string]string{}
	var packed []string
	for _, name := range names {
		if checkRef(name) != nil {
			return nil, false
		}
		data, err := os.ReadFile(filepath.Join(r.gitDir, name)) // a folder: there may be refs below
		id := strings.TrimRight(string(data), "\n")
		switch {
		case os.IsNotExist(err) && notLinked(r.gitDir, name):
			packed = append(packed, name)
		case err != nil || !notLinked(r.gitDir, name) || !r.isObject(id):
			return nil, false
		default:
			refs[name] = id
		}
	}
	return refs, len(packed) == 0 || r.packedRefs(packed, refs)
}

// notLinked reports whether a ref is no symbolic link, which names another.
func notLinked(gitDir, name string) bool {
	_, err := os.Readlink(filepath.Join(gitDir, name))
	return err != nil
}

func (r *Repo) isObject(id string) bool { return r.checkID(id) == nil && id != r.zero() }

// packedRefs adds those of the names that packed-refs has.
func (r *Repo) packedRefs(names []string, refs map[string]string) bool {
	f, err := os.Open(filepath.Join(r.gitDir, "packed-refs"))
	if os.IsNotExist(err) {
		return true
	}
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxPacked+1))
	if err != nil || len(data) > maxPacked {
		return false
	}
	for _, name := range names {
		if bytes.Contains(data, []byte(" "+name+"/")) {
			return false
		}
		before, _, found := bytes.Cut(data, []byte(" "+name+"\n"))
		if !found {
			continue
		}
		id := string(before[bytes.LastIndexByte(before, '\n')+1:])
		if !r.isObject(id) {
			return false
		}
		refs[name] = id
	}
	return true
}
