package argocd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func TestSource(t *testing.T) {
	for _, tt := range []struct {
		source string // members of spec.source beside repoURL
		status string
		want   verdict.Source
	}{
		{`"path":"apps/web","targetRevision":"main"`, ``, verdict.Source{Path: "apps/web", TargetRevision: "main", Plain: true}},
		{`"path":"./apps//web/"`, ``, verdict.Source{Path: "apps/web", Plain: true}},
		{`"path":"."`, ``, verdict.Source{Plain: true}},
		{`"path":"a","directory":{"jsonnet":{},"recurse":true}`, ``, verdict.Source{Path: "a", Plain: true, Recurse: true}},
		{`"path":"a"`, `{"sourceType":"Directory"}`, verdict.Source{Path: "a", Plain: true}},

		// What makes the manifests other than the files in the path.
		{`"path":"a"`, `{"sourceType":"Helm"}`, verdict.Source{Path: "a"}},
		{`"path":"a"`, `{"sourceType":"Kustomize"}`, verdict.Source{Path: "a"}},
		{`"path":"a"`, `{"sourceType":"Plugin"}`, verdict.Source{Path: "a"}},
		{`"path":"a","helm":{}`, ``, verdict.Source{Path: "a"}},
		{`"path":"a","kustomize":{"images":["x"]}`, ``, verdict.Source{Path: "a"}},
		{`"path":"a","plugin":{"name":"p"}`, ``, verdict.Source{Path: "a"}},
		{`"path":"a","directory":{"jsonnet":{"libs":["x"]}}`, ``, verdict.Source{Path: "a"}},
		{`"path":"a","directory":{"include":"*.yaml"}`, ``, verdict.Source{Path: "a"}},
		{`"path":"a","directory":{"exclude":"x.yaml"}`, ``, verdict.Source{Path: "a"}},
		{`"ref":"values"`, ``, verdict.Source{Ref: "values"}},
		{`"chart":"web","targetRevision":"1.2.3"`, ``, verdict.Source{Kind: verdict.SourceChart, Chart: "web", TargetRevision: "1.2.3"}},
	} {
		tt.want.RepoURL = "https://git.example.com/r.git"
		members := `,"spec":{"source":{"repoURL":"https://git.example.com/r.git",` + tt.source + `}}`
		if tt.status != "" {
			members += `,"status":` + tt.status
		}
		got := decode(t, members).Look(lookedAt, false).Spec
		if d := cmp.Diff([]verdict.Source{tt.want}, got); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.source, tt.status, d)
		}
	}
}

// Kinds are told by the source, never by the revision (R1), and the address of
// a source says no password.
func TestRepoURL(t *testing.T) {
	for _, tt := range []struct {
		url, want string
		kind      verdict.SourceKind
	}{
		{"oci://registry.example.com/x", "oci://registry.example.com/x", verdict.SourceOCI},
		{"OCI://registry.example.com/x", "OCI://registry.example.com/x", verdict.SourceGit}, // as Argo CD's IsOCI
		{"https://user:t@ken@git.example.com/r@1", "https://git.example.com/r@1", verdict.SourceGit},
		{"https://ghp_token@git.example.com", "https://git.example.com", verdict.SourceGit},
		{"ssh://git@git.example.com:22/r", "ssh://git@git.example.com:22/r", verdict.SourceGit},
		{"git@git.example.com:r", "git@git.example.com:r", verdict.SourceGit},
	} {
		got := decode(t, `,"spec":{"source":{"repoURL":"`+tt.url+`"}}`).Look(lookedAt, false).Spec
		if len(got) != 1 || got[0].RepoURL != tt.want || got[0].Kind != tt.kind {
			t.Errorf("%s reads %+v, want %s of kind %s", tt.url, got, tt.want, tt.kind)
		}
	}
}

func TestGeneratePaths(t *testing.T) {
	raw := strings.Replace(string(app(`,"spec":{"sources":[
			{"repoURL":"https://h/r","path":"apps/web"},
			{"repoURL":"https://h/r","ref":"values"},
			{"repoURL":"https://h/charts","chart":"x"}]}`)),
		`"metadata":{`, `"metadata":{"annotations":{"argocd.argoproj.io/manifest-generate-paths":".; ;/shared/;../base/*;;/"},`, 1)
	a, err := argocd.Decode([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, s := range a.Look(lookedAt, false).Spec {
		got = append(got, s.GeneratePaths)
	}
	want := [][]string{{"/apps/web", "/shared", "/apps/base/*", "/"}, {"/", "/shared", "/base/*", "/"}, nil}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Revisions go with the sources that they were made from; where the numbers
// differ none is trusted.
func TestAlign(t *testing.T) {
	const a, b = `{"repoURL":"https://h/a"}`, `{"repoURL":"https://h/b"}`
	for _, tt := range []struct {
		name, members     string
		compared, applies string
		result            bool
	}{
		{"two", `,"status":{"sync":{"comparedTo":{"source":{"repoURL":""},"sources":[` + a + `,` + b + `]},"revisions":["1","2"]}}`, "a=1 b=2", "", false},
		{"too few revisions", `,"status":{"sync":{"comparedTo":{"sources":[` + a + `,` + b + `]},"revisions":["1"]}}`, "a= b=", "", false},
		{"too many revisions", `,"status":{"sync":{"comparedTo":{"sources":[` + a + `]},"revisions":["1","2"]}}`, "a=", "", false},
		{"one of a list", `,"status":{"sync":{"comparedTo":{"sources":[` + a + `]},"revisions":["1"],"revision":"9"}}`, "a=1", "", false},
		{"single among revisions", `,"status":{"sync":{"comparedTo":{"source":` + a + `},"revisions":["1"]}}`, "a=", "", false},

		{"result", `,"status":{"operationState":{"operation":{"sync":{"revision":"1","source":` + a + `}},"syncResult":{"revision":"2","source":` + b + `}}}`, "", "b=2", true},
		{"result without revision", `,"status":{"operationState":{"operation":{"sync":{"revision":"1","source":` + a + `}},"syncResult":{"revision":"","source":` + b + `}}}`, "", "a=1", false},
		{"no result", `,"status":{"operationState":{"operation":{"sync":{"revision":"1","source":` + a + `}}}}`, "", "a=1", false},
		{"no source named", `,"spec":{"source":` + b + `},"status":{"operationState":{"operation":{"sync":{"revision":"1"}}}}`, "", "b=1", false},
		{"result without source", `,"spec":{"source":` + b + `},"status":{"operationState":{"operation":{"sync":{"source":` + a + `}},"syncResult":{"revision":"1"}}}`, "", "a=1", true},
		{"result of several", `,"status":{"operationState":{"operation":{"sync":{"revisions":["1","1"]}},"syncResult":{"revision":"","source":{"repoURL":""},"revisions":["1","2"],"sources":[` + a + `,` + b + `]}}}`, "", "a=1 b=2", true},
		{"requested", `,"operation":{"sync":{"revision":"1","source":` + a + `}}`, "", "a=1", false},
		{"the state counts, not the next request", `,"operation":{"sync":{"revision":"2","source":` + a + `}},"status":{"operationState":{"operation":{"sync":{"revision":"1","source":` + a + `}}}}`, "", "a=1", false},
	} {
		l := decode(t, tt.members).Look(lookedAt, false)
		if got := words(l.Compared); got != tt.compared {
			t.Errorf("%s: compared %q, want %q", tt.name, got, tt.compared)
		}
		if got := words(l.Operation.Revisions); got != tt.applies || l.Operation.HasResult != tt.result {
			t.Errorf("%s: operation applies %q (result %v), want %q (%v)", tt.name, got, l.Operation.HasResult, tt.applies, tt.result)
		}
	}
}

func words(all []verdict.Revision) string {
	var w []string
	for _, r := range all {
		w = append(w, strings.TrimPrefix(r.Source.RepoURL, "https://h/")+"="+r.Rev)
	}
	return strings.Join(w, " ")
}

func TestSpecChanged(t *testing.T) {
	const src = `"repoURL":"https://h/r","path":"a","targetRevision":"main"`
	const dest = `"destination":{"namespace":"web","server":"https://s"}`
	for _, tt := range []struct{ spec, compared, want string }{
		{`"source":{` + src + `},` + dest, `"source":{` + src + `},` + dest, ""},
		{`"sources":[{` + src + `}],` + dest, `"source":{"repoURL":""},"sources":[{` + src + `}],` + dest, ""},
		// Argo CD's copy leaves out what is empty, and completes a destination.
		{`"source":{` + src + `,"chart":"","ref":null,"helm":{},"directory":{"recurse":false,"jsonnet":{}}},` + dest, `"source":{` + src + `},` + dest, ""},
		{`"source":{` + src + `},"destination":{"namespace":"web","name":"prod"}`, `"source":{` + src + `},"destination":{"namespace":"web","name":"prod","server":"https://s"}`, ""},
		{`"source":{` + src + `},"destination":{"namespace":"web","name":"prod"}`, `"source":{` + src + `},` + dest, ""},
		{`"source":{` + src + `,"helm":{"valuesObject":{"replicas":2}}},` + dest, `"source":{` + src + `,"helm":{"valuesObject":{"replicas":2.0}}},` + dest, ""},

		{`"source":{` + src + `},` + dest, `"source":{"repoURL":"https://h/r","path":"b","targetRevision":"main"},` + dest, `source.path: compared was "b", the spec has "a"`},
		{`"source":{` + src + `},` + dest, `"source":{"repoURL":"https://u:p@h/r2","path":"a","targetRevision":"main"},` + dest, `source.repoURL: compared was "https://h/r2", the spec has "https://h/r"`},
		{`"source":{` + src + `,"helm":{"parameters":[{"name":"image.tag","value":"secret"}]}},` + dest, `"source":{` + src + `},` + dest, `source.helm.parameters: 0 compared, the spec has 1`},
		{`"source":{` + src + `,"helm":{"values":"a: 1"}},` + dest, `"source":{` + src + `,"helm":{"values":"a: 2"}},` + dest, `source.helm.values changed since the comparison`},
		{`"source":{` + src + `},"destination":{"namespace":"other","server":"https://s"}`, `"source":{` + src + `},` + dest, `destination.namespace: compared was "web", the spec has "other"`},
		{`"source":{` + src + `},"destination":{"namespace":"web","server":"https://t"}`, `"source":{` + src + `},` + dest, `destination.server: compared was "https://s", the spec has "https://t"`},
		{`"sources":[{` + src + `},{` + src + `}],` + dest, `"sources":[{` + src + `}],` + dest, "sources: 1 compared, the spec has 2"},
		{`"sources":[{` + src + `},{"repoURL":"https://h/v","ref":"v","targetRevision":"main"}],` + dest,
			`"sources":[{` + src + `},{"repoURL":"https://h/v","ref":"v","targetRevision":"next"}],` + dest, `sources[1].targetRevision: compared was "next", the spec has "main"`},
		{`"sources":[{` + src + `}],` + dest, `"source":{` + src + `},` + dest, "compared was one source, the spec has several"},
		{`"source":{` + src + `},` + dest, `"source":{"repoURL":""},"sources":[{` + src + `}],` + dest, "compared were several sources, the spec has one"},
		{`"source":{` + src + `},` + dest, `"source":{"repoURL":""},"destination":{}`, "nothing was compared yet"},
		{`"sourceHydrator":{"drySource":{"repoURL":"https://h/r","path":"dry"},"syncSource":{"path":"a","targetBranch":"main"}},` + dest, `"source":{` + src + `},` + dest, ""},
		{`"sourceHydrator":{"drySource":{"repoURL":"https://h/r","path":"dry"},"syncSource":{"path":"a","targetBranch":"next"}},` + dest, `"source":{` + src + `},` + dest,
			`source.targetRevision: compared was "main", the spec has "next"`},
	} {
		got := decode(t, `,"spec":{`+tt.spec+`},"status":{"sync":{"status":"Synced","comparedTo":{`+tt.compared+`}}}`).Look(lookedAt, false).SpecChanged
		if got != tt.want {
			t.Errorf("spec %s\ncompared %s\n  got  %s\n  want %s", tt.spec, tt.compared, got, tt.want)
		}
	}
}
