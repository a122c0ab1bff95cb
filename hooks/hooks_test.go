package hooks

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// program is what the shims start here: it says how it was called, copies its
// input, and fails if told so.
const program = `#!/bin/sh
echo "program:$*"
case "$*" in *commit-msg*) ;; *) cat ;; esac
exit ${PROGRAM_EXIT:-0}
`

const chained = `#!/bin/sh
echo "chained:$*"
case "$0" in *commit-msg*) ;; *) cat ;; esac
exit ${CHAINED_EXIT:-0}
`

// Not parallel: a script that another test's fork still holds open for writing
// cannot be run (ETXTBSY).
func TestShims(t *testing.T) {
	const input = "a b refs/heads/main\nc d refs/heads/it's\n"
	tests := []struct {
		name, hook string
		gone       bool   // the program is missing
		chained    string // mode of the chained hook: "", "run", "idle" (not executable)
		env        []string
		code       int
		stdout     string
		stderr     string
	}{
		{name: "pre", hook: "pre-receive", stdout: "program:it's pre-receive\n" + input},
		{name: "pre refuses", hook: "pre-receive", env: []string{"PROGRAM_EXIT=1"}, code: 1, stdout: "program:it's pre-receive\n" + input},
		{name: "pre gone", hook: "pre-receive", gone: true, code: 3, stderr: "hint: "},
		{name: "pre gone, chained", hook: "pre-receive", gone: true, chained: "run", code: 3, stderr: "hint: "},
		{name: "pre chained", hook: "pre-receive", chained: "run", stdout: "chained:\n" + input + "program:it's pre-receive\n" + input},
		{name: "pre chained refuses", hook: "pre-receive", chained: "run", env: []string{"CHAINED_EXIT=7"}, code: 7, stdout: "chained:\n" + input},
		{name: "pre both, ours refuses", hook: "pre-receive", chained: "run", env: []string{"PROGRAM_EXIT=1"}, code: 1, stdout: "chained:\n" + input + "program:it's pre-receive\n" + input},
		{name: "pre idle", hook: "pre-receive", chained: "idle", stdout: "program:it's pre-receive\n" + input},
		{name: "post", hook: "post-receive", stdout: "program:it's post-receive\n" + input},
		{name: "post gone", hook: "post-receive", gone: true, stderr: "hint: "},
		{name: "post gone, chained", hook: "post-receive", gone: true, chained: "run", stdout: "chained:\n" + input, stderr: "hint: "},
		{name: "post chained fails", hook: "post-receive", chained: "run", env: []string{"CHAINED_EXIT=7"}, code: 7, stdout: "chained:\n" + input + "program:it's post-receive\n" + input},
		{name: "msg", hook: "commit-msg", stdout: "program:it's commit-msg MSG\n"},
		{name: "msg chained", hook: "commit-msg", chained: "run", stdout: "chained:MSG\nprogram:it's commit-msg MSG\n"},
		{name: "msg chained refuses", hook: "commit-msg", chained: "run", env: []string{"CHAINED_EXIT=7"}, code: 7, stdout: "chained:MSG\n"},
		{name: "msg gone", hook: "commit-msg", gone: true, code: 3, stderr: "hint: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a 'b'") // a path that must be quoted
			must(t, os.Mkdir(dir, 0o755))
			prog := filepath.Join(dir, "nav hook")
			if !tt.gone {
				write(t, prog, program, 0o755)
			}
			hook := filepath.Join(dir, tt.hook)
			shim, err := Shim(tt.hook, []string{prog, "it's"})
			must(t, err)
			if !Ours(shim) || strings.Contains(string(shim), placeholder) {
				t.Fatalf("not a finished shim:\n%s", shim)
			}
			write(t, hook, string(shim), 0o755)
			if tt.chained != "" {
				write(t, hook+Chained, chained, map[string]os.FileMode{"run": 0o755, "idle": 0o644}[tt.chained])
			}
			cmd := exec.Command(hook)
			if tt.hook == "commit-msg" {
				cmd.Args = append(cmd.Args, "MSG")
			}
			cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, tt.env...)
			cmd.Stdin = strings.NewReader(input)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			code := 0
			if err := cmd.Run(); err != nil {
				var exit *exec.ExitError
				if !errors.As(err, &exit) {
					t.Fatal(err)
				}
				code = exit.ExitCode()
			}
			if code != tt.code || stdout.String() != tt.stdout {
				t.Errorf("exit %d, want %d; stdout %q, want %q", code, tt.code, stdout.String(), tt.stdout)
			}
			if !strings.Contains(stderr.String(), tt.stderr) || (tt.stderr == "" && stderr.Len() > 0) {
				t.Errorf("stderr %q, want %q", stderr.String(), tt.stderr)
			}
		})
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for _, name := range append(Server(), Clone()...) {
		for _, options := range [][]string{nil, {"--host=gitlab", "--watcher=it's 'me'", ""}} {
			command := []string{"/a 'b'/nav hook", "it's"}
			shim, err := Shim(name, command, options...)
			must(t, err)
			c, o, ok := Words(name, shim)
			if !ok || !slices.Equal(c, command) || !slices.Equal(o, options) {
				t.Errorf("%s: %q, %q, %t; want %q, %q", name, c, o, ok, command, options)
			}
			// A line more, or another hook's shim, is not what this version writes.
			if _, _, ok := Words(name, append(shim, '\n')); ok {
				t.Errorf("%s: a changed shim counts as current", name)
			}
		}
	}
	pre, err := Shim("pre-receive", []string{"/x"})
	must(t, err)
	for _, content := range []string{"", "#!/bin/sh\nset -- '/x' 'post-receive'\n", string(pre), strings.Replace(string(pre), "'/x'", "'/x", 1)} {
		if c, o, ok := Words("post-receive", []byte(content)); ok {
			t.Errorf("%q counts as a shim of post-receive: %q %q", content, c, o)
		}
	}
}

func TestShimRefuses(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{nil, {"navhook"}, {"/bin/x", "a\x00b"}} {
		if b, err := Shim("pre-receive", command); err == nil {
			t.Errorf("Shim(%q) gives %q", command, b)
		}
	}
	if _, err := Shim("update", []string{"/bin/x"}); err == nil {
		t.Error("there is no shim for update")
	}
	if Ours([]byte("#!/bin/sh\nexec other\n")) {
		t.Error("somebody else's hook counts as ours")
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), mode))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
