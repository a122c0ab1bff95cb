package navtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests that the table of hostile input names are there, and none of the
// hostile scripts is left out of it.
func TestHostileTable(t *testing.T) {
	root := top(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "design", "0011-hostile-input.md"))
	if err != nil {
		t.Fatal(err)
	}
	have, hostile := testNames(t, root)
	named := map[string]bool{}
	for row := range strings.Lines(string(page)) {
		cells := strings.Split(row, " | ")
		if !strings.HasPrefix(row, "|") || len(cells) != 4 || strings.Contains(row, "| test |") {
			continue
		}
		program, tests := "", 0
		for _, m := range regexp.MustCompile("(navhook|navlint|navwatchd)? ?`([^`]+)`").FindAllStringSubmatch(cells[3], -1) {
			name := m[2]
			if m[1] != "" {
				program = m[1] + " "
			}
			if strings.HasSuffix(name, ".txtar") {
				name = program + name
			}
			if tests++; !have[name] {
				t.Errorf("there is no test %q: %s", name, row)
			}
			named[name] = true
		}
		if tests == 0 {
			t.Errorf("no test: %s", row)
		}
	}
	for _, script := range hostile {
		if !named[script] {
			t.Errorf("%s is not in the table", script)
		}
	}
}

// testNames are the scripts, as "PROGRAM FILE", and the names of test and fuzz
// functions.
func testNames(t *testing.T, root string) (have map[string]bool, hostile []string) {
	t.Helper()
	have = map[string]bool{}
	scripts, err := filepath.Glob(filepath.Join(root, "cmd", "*", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		name := filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(s)))) + " " + filepath.Base(s)
		have[name] = true
		if strings.HasPrefix(filepath.Base(s), "hostile") {
			hostile = append(hostile, name)
		}
	}
	functions := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range functions.FindAllSubmatch(text, -1) {
			have[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return have, hostile
}
