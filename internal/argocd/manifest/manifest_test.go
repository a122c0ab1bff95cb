package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec: {replicas: 1}
`

func TestChanged(t *testing.T) {
	before, err := Objects([]byte(web + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: same}\n"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := Objects([]byte(strings.Replace(web, "1}", "2}", 1) + "---\n# only a comment\n---\nkind: Service\napiVersion: v1\nmetadata: {name: same}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[verdict.ObjectID]verdict.Tri{
		{Group: "apps", Kind: "Deployment", Namespace: "demo", Name: "web"}: verdict.Yes,
		{Kind: "ConfigMap", Name: "gone"}:                                   verdict.Yes,
		{Kind: "Service", Name: "same"}:                                     verdict.No,
	}
	if diff := cmp.Diff(want, Changed(before, after)); diff != "" {
		t.Error(diff)
	}
}

func TestObjectsRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"no yaml":    "a: [",
		"no object":  "just: values\n",
		"a list":     "- a\n",
		"twice":      web + "---\n" + web,
		"alias bomb": "a: &a [x]\nb: [" + strings.Repeat("*a,", 200) + "]\n",
		"too large":  strings.Repeat("#", maxFile+1),
	} {
		if got, err := Objects([]byte(data)); err == nil {
			t.Errorf("%s: read as %v", name, got)
		}
	}
}
