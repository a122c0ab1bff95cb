package exit_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// asked is what a person types before the tabulator, and the command line that
// is there after it.
type asked struct{ typed, want string }

func programs() map[string][]asked {
	return map[string][]asked{
		"navlint": {
			{"navlint mess", "navlint message"}, {"navlint message --str", "navlint message --strict"}, {"navlint message --format=sar", "navlint message --format=sarif"},
			{"navlint message --format sar", "navlint message --format sarif"}, {"navlint message only-f", "navlint message only-file"},
			{"navlint show --format j", "navlint show --format json"}, {"navlint completion z", "navlint completion zsh"}, {"navlint wait --rem", "navlint wait --remote"},
			{"navlint message -- only-f", "navlint message -- only-file"}, {"navlint --vers", "navlint --version"},
		},
		"navhook":   {{"navhook inst", "navhook install"}, {"navhook install --cl", "navhook install --clone"}, {"navhook pre-", "navhook pre-receive"}},
		"navwatchd": {{"navwatchd repl", "navwatchd replay"}, {"navwatchd circuit res", "navwatchd circuit reset"}, {"navwatchd once --conf", "navwatchd once --config"}},
	}
}

// shells run their own line editor on what is typed; its output has, a line
// each, "<" and the completed line. A shell that a machine lacks is skipped,
// unless NAV_REQUIRE_SHELLS says that it must be there.
func TestCompletionInShells(t *testing.T) {
	if testing.Short() {
		t.Skip("builds all programs")
	}
	bin := built(t)
	for shell, ask := range map[string]func(t *testing.T, s session) string{"bash": bash, "zsh": zsh, "fish": fish} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell); err != nil {
				if os.Getenv("NAV_REQUIRE_SHELLS") != "" {
					t.Fatal(err)
				}
				t.Skipf("there is no %s here", shell)
			}
			for program, cases := range programs() {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "only-file"), nil, 0o666); err != nil {
					t.Fatal(err)
				}
				out := ask(t, session{dir: dir, bin: bin, program: program, cases: cases})
				for _, c := range cases {
					if !strings.Contains(out, "< "+c.want+" >") {
						t.Errorf("%q does not become %q", c.typed, c.want)
					}
				}
				if t.Failed() {
					t.Logf("%s", out)
				}
			}
		})
	}
}

// built builds all programs.
func built(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "github.com/nav-watchdog/nav-watchdog/cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// --help of every command shows an example of it, and no flag that it has not.
func TestHelpExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("builds all programs")
	}
	bin := built(t)
	for program := range programs() {
		helpOf(t, filepath.Join(bin, program), nil)
	}
}

func helpOf(t *testing.T, program string, command []string) {
	t.Helper()
	text, err := exec.Command(program, append(command, "--help")...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", program, command, err)
	}
	call := strings.Join(append([]string{filepath.Base(program)}, command...), " ")
	_, shown, found := strings.Cut(string(text), "Examples:\n")
	shown, _, _ = strings.Cut(shown, "\n\n")
	if !found || !strings.Contains(shown, call) {
		t.Errorf("%s --help shows no example of it:\n%s", call, text)
	}
	_, flags, _ := strings.Cut(string(text), "OPTIONS:\n")
	for _, flag := range flagPattern.FindAllString(shown, -1) {
		if len(command) > 0 && !strings.Contains(flags, strings.TrimSpace(flag)) && !strings.Contains(shown, "git ") {
			t.Errorf("%s --help shows %s, which is none of its flags", call, flag)
		}
	}
	_, commands, _ := strings.Cut(string(text), "COMMANDS:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	for line := range strings.Lines(commands) {
		if name := strings.Fields(line); strings.HasPrefix(line, "   ") && len(name) > 1 {
			helpOf(t, program, append(slices.Clone(command), strings.TrimSuffix(name[0], ",")))
		}
	}
}

var flagPattern = regexp.MustCompile(` --[a-z][a-z-]*`)

// session is one start of a shell.
type session struct {
	dir, bin, program string
	cases             []asked
}

func (s session) run(t *testing.T, stdin string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a shell that waits for more fails the test, it does not hang it
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(stdin)
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + s.bin + ":" + os.Getenv("PATH"), "TERM=dumb", "LC_ALL=C"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out.String())
	}
	return out.String()
}

func (s session) write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// bash reads what is typed with readline from a pipe, too. ^A goes to the
// beginning of the line, ^E to its end.
func bash(t *testing.T, s session) string {
	rc := s.write(t, "bashrc", "source <("+s.program+" completion bash)\nPS1=\n")
	var typed strings.Builder
	for _, c := range s.cases {
		typed.WriteString(c.typed + "\t\x01echo '<' \x05 '>'\n")
	}
	return s.run(t, typed.String()+"exit\n", "bash", "--noprofile", "--rcfile", rc, "-i")
}

// zsh wants a terminal, which its own zpty gives to a second zsh.
func zsh(t *testing.T, s session) string {
	var b strings.Builder
	b.WriteString(`zmodload zsh/zpty || exit 1
zpty inner 'PS1= zsh -f -i'
zpty -w inner 'autoload -Uz compinit && compinit -u -D && source <(` + s.program + ` completion zsh); print REA""DY'
zpty -m -r inner out '*READY*'
`)
	for _, c := range s.cases {
		b.WriteString("zpty -w -n inner $'" + c.typed + `\t\x01print -r -- "<" \x05 ">" EN""D\n'
zpty -m -r inner out '*END*' || exit 1
print -r -- "$out"
`)
	}
	file := s.write(t, "ask.zsh", b.String())
	return s.run(t, "", "zsh", "-f", file)
}

// fish can be asked what it would offer.
func fish(t *testing.T, s session) string {
	var b strings.Builder
	b.WriteString(s.program + " completion fish | source\n")
	for _, c := range s.cases {
		before := c.typed[:strings.LastIndexByte(c.typed, ' ')+1]
		b.WriteString("for word in (complete -C '" + c.typed + "' | string split -f 1 \\t); echo \"< " + before + "$word >\"; end\n")
	}
	return s.run(t, "", "fish", "--no-config", s.write(t, "ask.fish", b.String()))
}
