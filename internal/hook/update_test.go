package hook

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	idA   = strings.Repeat("a", 40)
	idB   = strings.Repeat("b", 40)
	zero  = strings.Repeat("0", 40)
	id256 = strings.Repeat("c", 64)
)

func TestReadUpdates(t *testing.T) {
	t.Parallel()
	in := idA + " " + idB + " refs/heads/main\n" +
		zero + " " + idB + " refs/heads/new\n" +
		idA + " " + zero + " refs/heads/gone\n" +
		strings.Repeat("0", 64) + " " + id256 + " refs/heads/sha256\n" +
		idA + " " + idB + " refs/tags/ü\u202e\n"
	got, err := ReadUpdates(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []Update{
		{idA, idB, "refs/heads/main"}, {"", idB, "refs/heads/new"}, {idA, "", "refs/heads/gone"},
		{"", id256, "refs/heads/sha256"}, {idA, idB, "refs/tags/ü\u202e"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadUpdatesRefuses(t *testing.T) {
	t.Parallel()
	good := idA + " " + idB + " refs/heads/main\n"
	for name, bad := range map[string]string{
		"empty line":        "\n",
		"two fields":        idA + " " + idB + "\n",
		"four fields":       idA + " " + idB + " refs/heads/a b\n",
		"tabs":              idA + "\t" + idB + "\trefs/heads/main\n",
		"two spaces":        idA + "  " + idB + " refs/heads/main\n",
		"short id":          idA[1:] + " " + idB + " refs/heads/main\n",
		"upper case":        strings.ToUpper(idA) + " " + idB + " refs/heads/main\n",
		"different lengths": idA + " " + id256 + " refs/heads/main\n",
		"no ref":            idA + " " + idB + " \n",
		"not below refs":    idA + " " + idB + " HEAD\n",
		"carriage return":   idA + " " + idB + " refs/heads/main\r\n",
		"NUL":               idA + " " + idB + " refs/heads/ma\x00in\n",
		"control character": idA + " " + idB + " refs/heads/ma\x1bin\n",
		"named twice":       good,
		"cut":               idA + " " + idB + " refs/heads/main",
		"too long":          idA + " " + idB + " refs/heads/" + strings.Repeat("x", maxLine) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadUpdates(strings.NewReader(good + bad))
			var at *LineError
			if !errors.As(err, &at) || at.Line != 2 {
				t.Fatalf("error %v, want one of line 2", err)
			}
			if got != nil {
				t.Errorf("returned %v beside an error", got)
			}
		})
	}
}

// What is read prints back the same, and nothing else is accepted.
func FuzzReadUpdates(f *testing.F) {
	f.Add(idA + " " + idB + " refs/heads/main\n")
	f.Add(zero + " " + id256 + " refs/heads/main\n")
	f.Add(zero + " " + zero + " refs/heads/a\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		ups, err := ReadUpdates(strings.NewReader(in))
		if err != nil {
			if ups != nil {
				t.Fatalf("returned %v beside %v", ups, err)
			}
			return
		}
		var b strings.Builder
		lines := strings.SplitAfter(in, "\n")
		for i, u := range ups {
			old, now := u.Old, u.New
			size, _, _ := strings.Cut(lines[i], " ")
			none := strings.Repeat("0", len(size))
			if old == "" {
				old = none
			}
			if now == "" {
				now = none
			}
			fmt.Fprintf(&b, "%s %s %s\n", old, now, u.Ref)
		}
		if b.String() != in {
			t.Errorf("%q reads as %q", in, b.String())
		}
	})
}
