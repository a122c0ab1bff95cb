package navtest

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Repo is a repository to be filled by a test.
type Repo struct {
	Dir   string
	Clock time.Time // of the next commit

	t    testing.TB
	home string
}

// Bare makes an empty bare repository whose HEAD names main.
func Bare(t testing.TB, options ...string) *Repo {
	t.Helper()
	return create(t, append([]string{"--bare"}, options...))
}

// New makes an empty repository with a work tree, on the branch main.
func New(t testing.TB, options ...string) *Repo {
	t.Helper()
	return create(t, options)
}

func create(t testing.TB, options []string) *Repo {
	t.Helper()
	r := At(t, filepath.Join(t.TempDir(), "repo.git"))
	run(t, t.TempDir(), Env(r.home), nil, append(append([]string{"init", "-q", "--template="}, options...), r.Dir))
	return r
}

// At takes the repository that is at dir.
func At(t testing.TB, dir string) *Repo {
	t.Helper()
	return &Repo{Dir: dir, Clock: Start(), t: t, home: t.TempDir()}
}

// Clone clones the repository, by default with a work tree.
func (r *Repo) Clone(options ...string) *Repo {
	r.t.Helper()
	c := At(r.t, filepath.Join(r.t.TempDir(), "clone"))
	c.Clock = r.Clock
	args := append([]string{"clone", "-q", "--template="}, options...)
	run(r.t, r.t.TempDir(), Env(r.home), nil, append(args, "--", r.Dir, c.Dir))
	return c
}

// Git runs git in the repository, by its clock, which then moves a minute.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	return r.GitIn(nil, args...)
}

// GitIn is Git with standard input.
func (r *Repo) GitIn(stdin []byte, args ...string) string {
	r.t.Helper()
	env := append(Env(r.home), vars(r.home, r.tick())...)
	return run(r.t, r.Dir, env, stdin, args)
}

// Env is the environment in which the repository's commands run.
func (r *Repo) Env() []string { return Env(r.home) }

func (r *Repo) tick() time.Time {
	now := r.Clock
	r.Clock = now.Add(time.Minute)
	return now
}

// Tip is the commit of a branch (short name), "" when there is none.
func (r *Repo) Tip(branch string) string {
	r.t.Helper()
	return r.Git("for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
}

// Files says what paths become; the zero File takes a path away.
type Files map[string]File

// File is one path of a tree.
type File struct {
	Mode string
	Data string // content, the target of a link, or the id of a submodule's commit
}

// Text is a regular file.
func Text(data string) File { return File{Mode: "100644", Data: data} }

// Exec is an executable file.
func Exec(data string) File { return File{Mode: "100755", Data: data} }

// Link is a symbolic link.
func Link(target string) File { return File{Mode: "120000", Data: target} }

// Submodule is a commit of another repository.
func Submodule(id string) File { return File{Mode: "160000", Data: id} }

// Gone takes a path away.
func Gone() File { return File{} }

// Commit is a commit to be made.
type Commit struct {
	Branch   string   // short name, "" = main; or a full one, "refs/tags/x"; it moves to the commit
	Parents  []string // nil = the branch's tip if it has one; empty = a root
	Files    Files    // what changes against the first parent
	Message  string   // bytes; "" = "commit"
	Encoding string   // its header
	Name     string   // of author and committer; "" = Name
}

// Commit makes a commit without touching a work tree, and gives its id.
func (r *Repo) Commit(c Commit) string {
	r.t.Helper()
	ref := c.ref()
	if c.Parents == nil {
		if tip := r.plain("for-each-ref", "--format=%(objectname)", ref); tip != "" {
			c.Parents = []string{tip}
		}
	}
	out := run(r.t, r.Dir, Env(r.home), c.stream(ref, r.tick()), []string{"fast-import", "--quiet", "--force"})
	return strings.TrimSpace(out)
}

// Put commits files to main under a subject: the shortest way to a commit.
func (r *Repo) Put(subject string, files Files) string {
	r.t.Helper()
	return r.Commit(Commit{Message: subject + "\n", Files: files})
}

// Merge commits to the branch a merge of its tip with others, as git would make
// it if nothing conflicts: the files say what differs from the first parent.
func (r *Repo) Merge(branch, message string, files Files, others ...string) string {
	r.t.Helper()
	return r.Commit(Commit{Branch: branch, Message: message, Files: files, Parents: append([]string{r.Tip(branch)}, others...)})
}

// Branch sets a branch (short name).
func (r *Repo) Branch(name, id string) {
	r.t.Helper()
	r.plain("update-ref", "refs/heads/"+name, id)
}

func (r *Repo) plain(args ...string) string {
	r.t.Helper()
	return run(r.t, r.Dir, Env(r.home), nil, args)
}

func (c Commit) ref() string {
	switch {
	case c.Branch == "":
		return "refs/heads/main"
	case strings.HasPrefix(c.Branch, "refs/"):
		return c.Branch
	default:
		return "refs/heads/" + c.Branch
	}
}

// stream writes the commit as git fast-import reads it.
func (c Commit) stream(ref string, now time.Time) []byte {
	if c.Message == "" {
		c.Message = "commit\n"
	}
	if c.Name == "" {
		c.Name = Name
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "feature done\nreset %s\n\ncommit %s\nmark :1\n", ref, ref)
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(&b, "%s %s <%s> %d +0000\n", role, c.Name, Email, now.Unix())
	}
	if c.Encoding != "" {
		fmt.Fprintf(&b, "encoding %s\n", c.Encoding)
	}
	fmt.Fprintf(&b, "data %d\n%s\n", len(c.Message), c.Message)
	for i, p := range c.Parents {
		fmt.Fprintf(&b, "%s %s\n", []string{"from", "merge"}[min(i, 1)], p)
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) { // what goes, first: a file may become a folder
		if c.Files[path].Mode == "" {
			fmt.Fprintf(&b, "D %s\n", quote(path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		switch f := c.Files[path]; f.Mode {
		case "":
		case "160000":
			fmt.Fprintf(&b, "M 160000 %s %s\n", f.Data, quote(path))
		default:
			fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", f.Mode, quote(path), len(f.Data), f.Data)
		}
	}
	b.WriteString("get-mark :1\ndone\n")
	return b.Bytes()
}

// quote writes any bytes as fast-import reads a path.
func quote(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); i++ {
		fmt.Fprintf(&b, "\\%03o", path[i])
	}
	return b.String() + `"`
}
