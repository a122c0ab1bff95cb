package trailer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watch is a watch with the defaults.
func watch(app string, line int, change func(*Watch)) Watch {
	w := Watch{App: app, Deadline: 15 * time.Minute, Reach: 15 * time.Minute, Stable: 2 * time.Minute, Mode: Shadow, Expect: "Healthy", Pos: Pos{line, 1}}
	if change != nil {
		change(&w)
	}
	return w
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, msg string
		policy    Policy
		watches   []Watch
		findings  string
	}{
		{name: "no trailer", msg: "T\n\nbody\n"},
		{name: "defaults", msg: "T\n\n" + ours, watches: []Watch{watch("web", 3, nil)}},
		{
			name: "all fields", msg: "T\n\nA: b\nnav-watchdog: app=argocd/web deadline=180 reach=10m\n stable=1m30s mode=arm expect=Suspended\n",
			watches: []Watch{watch("argocd/web", 4, func(w *Watch) {
				w.Deadline, w.Reach, w.Stable, w.Mode, w.Expect = 180*time.Second, 10*time.Minute, 90*time.Second, Arm, "Suspended"
			})},
		},
		{
			name: "what is not supported yet", msg: "T\n\nNav-Watchdog: appset=web mode=propose expect=probe:a,Healthy,probe:b\n",
			watches: []Watch{watch("", 3, func(w *Watch) {
				w.AppSet, w.Mode, w.Probes, w.Unsupported = "web", Propose, []string{"a", "b"}, "appset, probe, mode=propose"
			})},
		},
		{name: "one of two is bad", msg: "T\n\n" + ours + "Nav-Watchdog: app=Api\n", watches: []Watch{watch("web", 3, nil)}, findings: "4:15 app-name"},
		{name: "the same twice", msg: "T\n\n" + ours + "Nav-Watchdog: deadline=15m app=web\n", watches: []Watch{watch("web", 3, nil)}, findings: "4:1 app-twice"},
		{name: "a contradiction", msg: "T\n\n" + ours + "Nav-Watchdog: app=api\nNav-Watchdog: app=web mode=arm\n", watches: []Watch{watch("api", 4, nil)}, findings: "5:1 app-twice"},
		{name: "not in the block", msg: "T\n\n" + ours + "\nbody\n"},
		{name: "on a revert", msg: "Revert \"T\"\n\n" + ours, watches: []Watch{watch("web", 3, nil)}},
		{name: "mixed modes", msg: "T\n\n" + ours + "Nav-Watchdog: app=api mode=arm\n", watches: []Watch{watch("web", 3, nil), watch("api", 4, func(w *Watch) { w.Mode = Arm })}},
		{name: "outside the limits", msg: "T\n\nNav-Watchdog: app=web deadline=40\n", findings: "3:23 time-limit"},
		{
			name: "outside the limits, without any", msg: "T\n\nNav-Watchdog: app=web deadline=40 stable=0 reach=1000h\n", policy: DefaultPolicy().Unlimited(),
			watches: []Watch{watch("web", 3, func(w *Watch) { w.Deadline, w.Stable, w.Reach = 40*time.Second, 0, 1000*time.Hour })},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.policy == (Policy{}) {
				c.policy = DefaultPolicy()
			}
			watches, fs := Decode([]byte(c.msg), c.policy)
			if diff := cmp.Diff(c.watches, watches); diff != "" {
				t.Errorf("watches (-want +got):\n%s", diff)
			}
			if got := strings.Join(lines(fs), ", "); got != c.findings {
				t.Errorf("findings: %s\nwant: %s", got, c.findings)
			}
		})
	}
}

func TestDecodeBounded(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		want   int
	}{{DefaultPolicy(), 16}, {DefaultPolicy().Unlimited(), 256}, {Policy{WatchesPerCommit: 1 << 30}, 256}} {
		watches, fs := Decode([]byte("T\n\n"+manyWatches(1000)), c.policy)
		if len(watches) != c.want || len(fs) != 1 || fs[0].Rule != TooMany {
			t.Errorf("limit %d: %d watches, findings %v", c.policy.WatchesPerCommit, len(watches), fs)
		}
	}
}

func TestMentions(t *testing.T) {
	for msg, want := range map[string]bool{
		"":                             false,
		"-":                            false,
		"Nav-Watchdo":                  false,
		"av-Watchdog: x":               false,
		"Nav-Watchdog":                 true,
		"a-b --- T\n\nnAV-wATCHDOG: x": true,
		"Nav_Watchdog":                 false,
	} {
		if got := mentions([]byte(msg)); got != want {
			t.Errorf("mentions(%q) = %v", msg, got)
		}
	}
}

func TestParseFields(t *testing.T) {
	got, err := ParseFields(" app=web  deadline=40\tstable=5s", DefaultPolicy())
	want := watch("web", 1, func(w *Watch) { w.Deadline, w.Stable = 40*time.Second, 5*time.Second })
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

func TestParseFieldsError(t *testing.T) {
	got, err := ParseFields("app=web dedline=40 mode=off", DefaultPolicy())
	var fields *FieldsError
	if !errors.As(err, &fields) {
		t.Fatalf("error is %v", err)
	}
	if got.App != "" {
		t.Errorf("got %+v with an error", got)
	}
	want := "1:9: there is no field \"dedline\"\nhint: did you mean deadline=?\n1:20: there is no mode \"off\"\nhint: the modes are shadow, propose and arm"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHints has what a hint proposes.
func TestHints(t *testing.T) {
	for value, want := range map[string]string{
		"web":                       "did you mean app=web?",
		"application=web":           "did you mean app=?",
		"app=web timeout=9":         "did you mean deadline=?",
		"app=web Deadline=9":        "did you mean deadline=?",
		"app=web staple=90":         "did you mean stable=?",
		"app=web mode=Arm":          "did you mean mode=arm?",
		"app=web mode=shadw":        "did you mean mode=shadow?",
		"app=web expect=healthy":    "did you mean expect=Healthy?",
		"app=a,b":                   "one trailer names one application: repeat the trailer, and put spaces between fields",
		"app=w\u0435b":              "use the name of the Argo CD Application, or NAMESPACE/NAME",
		"app=web d\u0435adline=900": "did you mean deadline=?",
	} {
		fs := Lint([]byte("T\n\nNav-Watchdog: "+value+"\n"), DefaultPolicy())
		if len(fs) != 1 || fs[0].Hint != want {
			t.Errorf("%q: got %v, want the hint %q", value, fs, want)
		}
	}
}

func TestLookAlikes(t *testing.T) {
	if a, b := len([]rune(lookAlikes)), len(looksLike); a != b {
		t.Fatalf("%d look-alikes for %d letters", a, b)
	}
	if got := string(skeleton([]byte("N\u0430\u2010\uff36 \u200b\u039f_x"))); got != "navox" {
		t.Errorf("skeleton is %q", got)
	}
}
