package kube

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func object(t *testing.T, raw []byte) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

func look(t *testing.T, u *unstructured.Unstructured) verdict.Look {
	t.Helper()
	app, err := argocd.FromObject(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	return app.Look(time.Time{}, false)
}

// samples are the JSON of all fixtures and of every recorded object.
func samples(t *testing.T) (all [][]byte) {
	t.Helper()
	fixtures, err := filepath.Glob("../testdata/apps/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range fixtures {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw)
	}
	recordings, err := filepath.Glob("../../../testdata/timelines/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range recordings {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var entry struct{ Object json.RawMessage }
			if err := json.Unmarshal(line, &entry); err != nil {
				t.Fatal(err)
			}
			if entry.Object != nil {
				all = append(all, entry.Object)
			}
		}
	}
	return all
}

// A trimmed Application says what the whole one says, and trimming twice is
// trimming once.
func TestTrimKeepsTheLook(t *testing.T) {
	all := samples(t)
	if len(all) < 100 {
		t.Fatalf("only %d samples", len(all))
	}
	for _, raw := range all {
		whole, once := object(t, raw), object(t, raw)
		if _, err := trim(once); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(look(t, whole), look(t, once)); d != "" {
			t.Errorf("%s says otherwise once trimmed (-whole +trimmed):\n%s", whole.GetName(), d)
		}
		twice := once.DeepCopy()
		if _, err := trim(twice); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(once.Object, twice.Object); d != "" {
			t.Errorf("%s trimmed twice (-once +twice):\n%s", whole.GetName(), d)
		}
	}
}

// What makes Applications big is gone, and a change of it still shows.
func TestTrimSmall(t *testing.T) {
	long := strings.Repeat("replicas: 1\\n", 1000)
	raw := func(values string) []byte {
		source := `{"repoURL":"https://h/r","path":"a","helm":{"values":"` + values + `","valuesObject":{"x":"` + values + `"}}}`
		compared := `{"repoURL":"https://h/r","path":"a","helm":{"values":"` + long + `","valuesObject":{"x":"` + long + `"}}}`
		entry := `{"id":1,"revision":"a","source":` + source + `}`
		return []byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"argocd",
			"managedFields":[{"manager":"` + long + `"}],"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"` + long + `"}},
			"spec":{"source":` + source + `},"operation":{"sync":{"manifests":["` + long + `"]}},
			"status":{"history":[` + strings.Repeat(entry+",", 9) + entry + `],"summary":{"images":["` + long + `"]},
			"sync":{"status":"Synced","revision":"a","comparedTo":{"source":` + compared + `}}}}`)
	}
	same := object(t, raw(long))
	if _, err := trim(same); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(same.Object)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 2000 {
		t.Errorf("%d bytes are left of %d", len(text), len(raw(long)))
	}
	if l := look(t, same); l.SpecChanged != "" || l.History == nil || !l.Operation.Local {
		t.Errorf("reads %+v", l)
	}
	other := object(t, raw(long+"#"))
	if _, err := trim(other); err != nil {
		t.Fatal(err)
	}
	if l := look(t, other); l.SpecChanged != "source.helm.values changed since the comparison" {
		t.Errorf("changed values read %q", l.SpecChanged)
	}
}

// A tombstone of the informer passes.
func TestTrimOther(t *testing.T) {
	if got, err := trim("tombstone"); err != nil || got != "tombstone" {
		t.Errorf("%v, %v", got, err)
	}
}
