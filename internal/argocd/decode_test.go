package argocd_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// app is the JSON of an Application with these further members.
func app(members string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","namespace":"argocd"}%s}`, members)
}

func decode(t *testing.T, members string) *argocd.Application {
	t.Helper()
	a, err := argocd.Decode(app(members))
	if err != nil {
		t.Fatalf("%s: %v", members, err)
	}
	return a
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{``, "unexpected end of JSON input"},
		{"{\n\"kind\": \"Application\",\n x", "line 3: invalid character 'x'"},
		{`[]`, "it is a list, want an object"},
		{`null`, "it is null, want an object"},
		{string(app(``)) + `{}`, "after top-level value"},
		{`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"x"}}`, "not an Application of argoproj.io"},
		{`{"apiVersion":"app.k8s.io/v1beta1","kind":"Application","metadata":{"name":"x"}}`, "not an Application of argoproj.io"},
		{`{"apiVersion":"argoproj.io/v1alpha1","Kind":"Application","metadata":{"name":"x"}}`, "not an Application of argoproj.io"},
		{`{"apiVersion":"argoproj.io/v1alpha1","kind":7}`, "field kind is the number 7, want text"},
		{`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application"}`, "no usable name"},
		{`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"a/b"}}`, "no usable name"},
		{`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"a\u001b[2J"}}`, "no usable name"},
		{`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":[]}`, "field metadata is a list, want an object"},
		{string(app(`,"status":{"sync":{"status":1}}`)), `reading Application "argocd/web": field status.sync.status is the number 1, want text`},
		{string(app(`,"status":{"sync":{"revisions":["a",null]}}`)), "field status.sync.revisions[1] is null, want text"},
		{string(app(`,"status":{"resources":[{},{"health":"Healthy"}]}`)), `field status.resources[1].health is the text "Healthy", want an object`},
		{string(app(`,"status":{"resources":[{},7]}`)), "field status.resources[1] is the number 7, want an object"},
		{string(app(`,"status":{"resources":{}}`)), "field status.resources is an object, want a list"},
		{string(app(`,"status":{"reconciledAt":"yesterday"}`)), `field status.reconciledAt is the text "yesterday", want a time`},
		{string(app(`,"status":{"operationState":{"retryCount":1.5}}`)), "field status.operationState.retryCount is the number 1.5, want a whole number"},
		{string(app(`,"status":{"operationState":{"retryCount":1e300}}`)), "want a whole number"},
		{string(app(`,"spec":{"syncPolicy":{"automated":{"prune":"true"}}}`)), `field spec.syncPolicy.automated.prune is the text "true", want true or false`},
		{string(app(`,"spec":{"sources":[{"repoURL":"` + strings.Repeat("x", 99) + `"},{"helm":true}]}`)), "field spec.sources[1].helm is true, want an object"},
		{string(app(`,"operation":true`)), "field operation is true, want an object"},
		{`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"web","annotations":{"argocd.argoproj.io/refresh":true}}}`,
			`field metadata.annotations."argocd.argoproj.io/refresh" is true, want text`},
	} {
		got, err := argocd.Decode([]byte(tt.raw))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Decode(%s)\n  error %v\n  want  %s", tt.raw, err, tt.want)
		}
		if got != nil {
			t.Errorf("Decode(%s) returns an Application with its error", tt.raw)
		}
	}
	var field *argocd.FieldError
	if _, err := argocd.Decode(app(`,"spec":{"project":1}`)); !errors.As(err, &field) || field.Field != "spec.project" {
		t.Errorf("a wrong field is %v, want a FieldError of spec.project", err)
	}
}

func TestDecodeBounded(t *testing.T) {
	big := app(`,"x":"` + strings.Repeat("x", argocd.MaxApplication) + `"`)
	if _, err := argocd.Decode(big); err == nil || !strings.Contains(err.Error(), "are more than 4194304") {
		t.Errorf("an Application of %d bytes: %v", len(big), err)
	}
	deep := app(`,"spec":{"source":{"repoURL":"x","helm":` + strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat(`}`, 9000) + `}}`)
	if _, err := argocd.Decode(deep); err != nil {
		t.Errorf("deeply nested unknown fields: %v", err)
	}
}

// Nothing but the fields that are read can be wrong, and null is absent.
func TestDecodeLenient(t *testing.T) {
	l := decode(t, `,"spec":{"project":null,"syncPolicy":null,"new":[1,{}],"source":{"repoURL":"https://h/r","kustomize":null}},"operation":null,
		"status":{"sync":null,"history":null,"resources":[],"conditions":[],"observedAt":5}`).Look(lookedAt, false)
	want := verdict.Look{
		App: verdict.App{Namespace: "argocd", Name: "web"}, At: lookedAt, HealthInline: true,
		Spec: []verdict.Source{{RepoURL: "https://h/r"}}, SpecDigest: l.SpecDigest,
	}
	if d := cmp.Diff(want, l); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(app(``))
	f.Add(app(`,"spec":{"source":{"repoURL":"https://h/r","path":"a"}},"status":{"sync":{"status":"Synced","comparedTo":{"source":{"repoURL":"https://h/r"}}}}`))
	f.Add(app(`,"operation":{"sync":{"resources":[{}]}},"status":{"operationState":{"operation":{},"syncResult":{"revisions":["a","b"],"sources":[{}]}}}`))
	f.Add(app(`,"spec":{"sourceHydrator":{"drySource":{"repoURL":"x"}}},"status":{"sync":{"status":"Synced"},"history":[{"id":1}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if a, err := argocd.Decode(raw); (a == nil) == (err == nil) {
			t.Errorf("Decode: %v, %v: want either", a, err)
		} else if err == nil {
			l := a.Look(lookedAt, true)
			for _, r := range [][]verdict.Revision{l.Compared, l.Operation.Revisions} {
				for _, rev := range r { // a revision only ever comes from the object
					if !bytes.Contains(raw, []byte("revision")) && rev.Rev != "" {
						t.Errorf("revision %q comes from nowhere", rev.Rev)
					}
				}
			}
			if l.App.Name == "" || strings.ContainsAny(l.App.String(), " \n\x1b") {
				t.Errorf("a name that cannot be printed: %q", l.App)
			}
		}
	})
}

// BenchmarkDecode reads an Application of 20 KB.
func BenchmarkDecode(b *testing.B) {
	var resources []string
	raw := []byte{}
	for i := 0; len(raw) < 20<<10; i++ {
		resources = append(resources, fmt.Sprintf(`{"group":"apps","version":"v1","kind":"Deployment","namespace":"web","name":"web-%d","status":"Synced","health":{"status":"Healthy"}}`, i))
		raw = app(`,"spec":{"source":{"repoURL":"https://h/r","path":"a"}},"status":{"sync":{"status":"Synced","revision":"` + newCommit +
			`","comparedTo":{"source":{"repoURL":"https://h/r","path":"a"}}},"resources":[` + strings.Join(resources, ",") + `]}`)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := argocd.Decode(raw); err != nil {
			b.Fatal(err)
		}
	}
}
