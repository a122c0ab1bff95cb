package gitstore

import (
	"errors"
	"strings"
)

// rightsHint is a hint line, to be put behind an error, where git says that a
// repository on this machine, or its server's files, belong to somebody else; ""
// otherwise. Those are git's words in setup.c (die_upon_dubious_ownership),
// receive-pack.c, object-file.c and lockfile.c, which runs with LC_ALL=C. What
// ssh says of a key is not among them.
func rightsHint(err error) string {
	var process *Error
	if !errors.As(err, &process) {
		return ""
	}
	has := func(words string) bool { return strings.Contains(process.Stderr, words) }
	switch {
	case has("detected dubious ownership in repository"):
		return "\nhint: it belongs to another user: where it is, say `git config --system --add safe.directory PATH` with its absolute path, as docs/hosts.md has it (plain)"
	case has("unable to create temporary object directory"),
		has("insufficient permission for adding an object"),
		has(".lock': Permission denied"):
		return "\nhint: who pushes may not write the files there: a shared group, as docs/hosts.md has it (plain)"
	}
	return ""
}
