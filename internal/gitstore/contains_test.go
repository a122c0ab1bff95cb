package gitstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/gitstore"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// randomHistory makes n commits whose parents are any earlier ones, with dates
// in any order, and gives their ids.
func randomHistory(t testing.TB, r *navtest.Repo, rnd *rand.Rand, n int) []string {
	t.Helper()
	var in bytes.Buffer
	for i := 1; i <= n; i++ {
		date := 1_800_000_000 + i*60
		if rnd.IntN(4) == 0 { // a clock that is wrong
			date = 1_800_000_000 + rnd.IntN(n*120)
		}
		fmt.Fprintf(&in, "reset refs/heads/b%d\n\ncommit refs/heads/b%d\nmark :%d\ncommitter x <x@example.com> %d +0000\ndata 2\n%02d\n", i, i, i, date, i%100)
		verb := "from"
		for _, p := range parentsOf(rnd, i) {
			fmt.Fprintf(&in, "%s :%d\n", verb, p)
			verb = "merge"
		}
	}
	marks := filepath.Join(t.TempDir(), "marks")
	r.GitIn(in.Bytes(), "fast-import", "--quiet", "--export-marks="+marks)
	text := must[[]byte](t)(os.ReadFile(marks))
	ids := make([]string, n)
	for line := range strings.Lines(string(text)) {
		var mark int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &id); err != nil {
			t.Fatal(err)
		}
		ids[mark-1] = id
	}
	return ids
}

func parentsOf(rnd *rand.Rand, i int) []int {
	if i == 1 || rnd.IntN(12) == 0 {
		return nil // another root
	}
	count := 1 + rnd.IntN(10)/7 + rnd.IntN(12)/11
	seen := map[int]bool{}
	var parents []int
	for range count {
		near := max(1, i-1-rnd.IntN(6))
		if !seen[near] {
			seen[near] = true
			parents = append(parents, near)
		}
	}
	return parents
}

// Contains answers what `git merge-base --is-ancestor` answers, on any history:
// several roots, merges of many, dates that lie.
func TestContainsAsGitSays(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := navtest.Bare(t)
		ids := randomHistory(t, r, rnd, 40)
		if seed%2 == 1 {
			r.Git("commit-graph", "write", "--reachable")
		}
		g := open(t, r)
		// All at once, a few near the tips, and some at random.
		questions := [][2][]string{{ids, ids}, {ids[36:], ids[34:]}, {pick(rnd, ids, 3), pick(rnd, ids, 4)}, {pick(rnd, ids, 1), pick(rnd, ids, 1)}}
		ancestors := map[string]string{}
		for _, q := range questions {
			got := must[map[string]map[string]bool](t)(g.Contains(ctx, q[0], q[1]))
			for _, rev := range q[1] {
				if ancestors[rev] == "" {
					ancestors[rev] = r.Git("rev-list", rev)
				}
				for _, c := range q[0] {
					if want := strings.Contains(ancestors[rev], c); got[c][rev] != want {
						t.Errorf("seed %d: %s contains %s: %v, git says %v", seed, rev, c, got[c][rev], want)
					}
				}
			}
		}
		// rev-list is what is asked above; merge-base must agree with it.
		c, rev := pick(rnd, ids, 1)[0], pick(rnd, ids, 1)[0]
		_, err := navtest.TryGit(t, r.Dir, "merge-base", "--is-ancestor", c, rev)
		if got := must[map[string]map[string]bool](t)(g.Contains(ctx, []string{c}, []string{rev})); got[c][rev] != (err == nil) {
			t.Errorf("seed %d: %s contains %s: %v, merge-base says %v", seed, rev, c, got[c][rev], err)
		}
	}
}

func pick(rnd *rand.Rand, ids []string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = ids[rnd.IntN(len(ids))]
	}
	return out
}

func TestContainsEdges(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	one := r.Put("one", navtest.Files{"a": navtest.Text("1")})
	two := r.Put("two", nil)
	g := open(t, r)
	if got := must[map[string]map[string]bool](t)(g.Contains(ctx, nil, []string{one})); len(got) != 0 {
		t.Errorf("no commits: %v", got)
	}
	if got := must[map[string]map[string]bool](t)(g.Contains(ctx, []string{one}, nil)); len(got) != 1 || len(got[one]) != 0 {
		t.Errorf("no revs: %v", got)
	}
	r.Git("tag", "-a", "-m", "x", "v1", one)
	for name, id := range map[string]string{
		"missing": strings.Repeat("ab", 20), "a name": "main", "a tag": r.Git("rev-parse", "v1"), "a blob": r.Git("rev-parse", one+":a"),
	} {
		for _, q := range [][2]string{{id, two}, {one, id}} {
			_, err := g.Contains(ctx, []string{q[0]}, []string{q[1]})
			if err == nil || !strings.Contains(err.Error(), id) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// In a shallow clone "yes" is sure and "no" is not: it must not be said.
func TestContainsShallow(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	r.Put("one", nil)
	two, three := r.Put("two", nil), r.Put("three", nil)
	clone := r.Clone("--bare", "--depth=2", "--no-local")
	g := open(t, clone)
	if got := must[map[string]map[string]bool](t)(g.Contains(ctx, []string{two}, []string{three})); !got[two][three] {
		t.Error("three does not contain two")
	}
	if _, err := g.Contains(ctx, []string{three}, []string{two}); !errors.Is(err, gitstore.ErrShallow) {
		t.Errorf("err = %v", err)
	}
}

// Near the tips only what is above the commits is read: the histories below are
// broken, and the answer does not notice.
func TestContainsReadsOnlyWhatIsNear(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	far := r.Put("loose, so that it can be lost", nil)
	linear(t, r, 5000)
	near := strings.Fields(r.Git("rev-list", "-n", "20", "main"))
	check(t, os.RemoveAll(filepath.Join(r.Dir, "objects", far[:2], far[2:])))
	g := open(t, r)
	got := must[map[string]map[string]bool](t)(g.Contains(ctx, near[5:], near))
	if !got[near[19]][near[0]] || got[near[5]][near[6]] {
		t.Error("wrong answers near the tip")
	}
	if _, err := g.Contains(ctx, []string{far}, near[:1]); err == nil {
		t.Error("the broken history was not met: the test proves nothing")
	}
}

// linear adds n commits to main.
func linear(t testing.TB, r *navtest.Repo, n int) {
	t.Helper()
	var in bytes.Buffer
	from := ""
	if r.Tip("main") != "" {
		from = "from refs/heads/main^0\n"
	}
	for range n {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter x <x@example.com> %d +0000\ndata 2\nx\n%s\n", r.Clock.Unix(), from)
		from, r.Clock = "", r.Clock.Add(time.Minute)
	}
	r.GitIn(in.Bytes(), "fast-import", "--quiet")
}

func BenchmarkContainsNear(b *testing.B) {
	r := navtest.Bare(b)
	linear(b, r, 20_000)
	r.Git("gc", "-q")
	near := strings.Fields(r.Git("rev-list", "-n", "50", "main"))
	g := open(b, r)
	for b.Loop() {
		must[map[string]map[string]bool](b)(g.Contains(context.Background(), near[10:], near[:5]))
	}
}

func BenchmarkContainsFar(b *testing.B) {
	r := navtest.Bare(b)
	linear(b, r, 20_000)
	r.Git("gc", "-q")
	root, tip := r.Git("rev-list", "--max-parents=0", "main"), r.Tip("main")
	g := open(b, r)
	for b.Loop() {
		must[map[string]map[string]bool](b)(g.Contains(context.Background(), []string{root}, []string{tip}))
	}
}

// Thousands of commits are asked of one rev: all of them lie in it, or not all.
func TestContainsThousands(t *testing.T) {
	ctx := context.Background()
	r := navtest.Bare(t)
	linear(t, r, 1500)
	ids := strings.Fields(r.Git("rev-list", "main"))
	side := r.Commit(navtest.Commit{Branch: "side", Parents: []string{ids[700]}})
	g := open(t, r)
	for rev, want := range map[string]int{ids[0]: 1500, ids[10]: 1490, side: 800} {
		got := must[map[string]map[string]bool](t)(g.Contains(ctx, ids, []string{rev}))
		n := 0
		for _, id := range ids {
			if got[id][rev] {
				n++
			}
		}
		if count := r.Git("rev-list", "--count", "main", "^"+rev); n != want || count != fmt.Sprint(1500-n) {
			t.Errorf("%s: %d of them are contained, not %d; git lists %s others", rev, n, want, count)
		}
	}
	none := strings.Repeat("ab", 20)
	if _, err := g.Contains(ctx, ids, []string{none}); err == nil || !strings.Contains(err.Error(), none) {
		t.Errorf("a rev that is not there: %v", err)
	}
	if _, err := g.Contains(ctx, append(ids, none), ids[:1]); err == nil || !strings.Contains(err.Error(), none) {
		t.Errorf("a commit that is not there: %v", err)
	}
}
