package gitstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

func TestSmallBlobsAndGrep(t *testing.T) {
	r := navtest.New(t)
	r.Put("files", navtest.Files{
		"a.yaml": navtest.Text("kind: Application # argoproj.io"), "big.yaml": navtest.Text(strings.Repeat("x", 2000)),
		"b/empty.yml": navtest.Text(""), "b/c.json": navtest.Text(`{"apiVersion":"argoproj.io/v1alpha1"}`),
		"b/c.txt": navtest.Text("argoproj.io"), ".gitattributes": navtest.Text("*.yaml binary\n"),
	})
	g := must[*gitstore.Repo](t)(gitstore.Open(context.Background(), r.Dir, gitstore.Options{Env: r.Env()}))
	ctx, head := context.Background(), r.Git("rev-parse", "HEAD")
	var ids []string
	for _, p := range []string{"big.yaml", "a.yaml", "b/empty.yml", "big.yaml"} {
		ids = append(ids, r.Git("rev-parse", "HEAD:"+p))
	}
	ids = append(ids, strings.Repeat("1", len(head)))
	var got []string
	err := g.SmallBlobs(ctx, ids, 100, func(id string, data []byte) error {
		text := "nil"
		if data != nil {
			text = string(data)
		}
		got = append(got, id[:7]+" "+text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{ids[0][:7] + " nil", ids[1][:7] + " kind: Application # argoproj.io", ids[2][:7] + " ", ids[3][:7] + " nil", "1111111 nil"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	paths := must[[]string](t)(g.Grep(ctx, head, "argoproj.io", []string{".yaml", ".yml", ".json"}))
	if d := cmp.Diff([]string{"a.yaml", "b/c.json"}, paths); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if paths, err := g.Grep(ctx, head, "not there at all", []string{".yaml"}); err != nil || paths != nil {
		t.Errorf("%q, %v", paths, err)
	}
}
