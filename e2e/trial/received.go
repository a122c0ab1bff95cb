package trial

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Record installs hooks beside the product's that write down what reaches the
// server: pushes (a file in the hooks folder, which it may share with others)
// with what variable says of the pusher, and transactions.
func (r *Repository) Record(hook, variable string) {
	r.T.Helper()
	logs := filepath.Join(r.Dir, "received")
	r.Check(os.MkdirAll(logs, 0o777), os.Chmod(logs, 0o777))
	for name, script := range map[string]string{
		hook:                    "sed \"s/^/$" + variable + " $$ /\" >> %s/pushes\nexit 0\n",
		"reference-transaction": "test \"$1\" = committed || exit 0\nsed \"s/^/$$ /\" >> %s/transactions\n",
	} {
		text := "#!/bin/sh\numask 0\n" + fmt.Sprintf(script, logs)
		r.Check(os.WriteFile(filepath.Join(r.Bare, "hooks", name), []byte(text), 0o755))
	}
}

// Received are the lines that a hook of Record wrote down: pushes as pusher,
// process, old, new, ref; transactions as process, old, new, ref.
func (r *Repository) Received(file string) []string {
	data, err := os.ReadFile(filepath.Join(r.Dir, "received", file))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// Together checks that the push that moved main to a commit also moved the
// verdicts, in one transaction.
func (r *Repository) Together(commit string) {
	r.T.Helper()
	pushed, moved := "", ""
	for _, line := range r.Received("pushes") {
		if f := strings.Fields(line); len(f) == 5 && f[0] == Nav && f[3] == commit && f[4] == "refs/heads/main" {
			pushed = f[1]
		}
	}
	for _, line := range r.Received("transactions") {
		if f := strings.Fields(line); len(f) == 4 && f[2] == commit && f[3] == "refs/heads/main" {
			moved = f[0]
		}
	}
	with := func(file, start string) bool {
		return slices.ContainsFunc(r.Received(file), func(l string) bool {
			return strings.HasPrefix(l, start+" ") && strings.HasSuffix(l, " refs/notes/nav/verdicts")
		})
	}
	if pushed == "" || !with("pushes", Nav+" "+pushed) {
		r.T.Errorf("the revert did not come with a verdict:\n%s", strings.Join(r.Received("pushes"), "\n"))
	}
	if moved == "" || !with("transactions", moved) {
		r.T.Errorf("branch and verdict did not move in one transaction:\n%s", strings.Join(r.Received("transactions"), "\n"))
	}
}
