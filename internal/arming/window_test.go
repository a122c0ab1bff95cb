package arming

import (
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func when(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestCronNext(t *testing.T) {
	for _, c := range []struct{ schedule, after, want string }{
		{"0 8 * * *", "2026-11-29T07:59:59Z", "2026-11-29T08:00:00Z"},
		{"0 8 * * *", "2026-11-29T08:00:00Z", "2026-11-30T08:00:00Z"},
		{"*/15 * * * *", "2026-11-29T08:16:00Z", "2026-11-29T08:30:00Z"},
		{"5/20 * * * *", "2026-11-29T08:30:00Z", "2026-11-29T08:45:00Z"},
		{"0 22-23,2 * * *", "2026-11-29T23:30:00Z", "2026-11-30T02:00:00Z"},
		{"0 0 * * MON-fri", "2026-11-27T12:00:00Z", "2026-11-30T00:00:00Z"},
		{"0 0 1 jan ?", "2026-11-29T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"0 0 29 2 *", "2026-11-29T00:00:00Z", "2028-02-29T00:00:00Z"},
		// Both day fields are written: either fits (cron's own rule).
		{"0 0 13 * 5", "2026-11-12T12:00:00Z", "2026-11-13T00:00:00Z"},
		{"0 0 15 * 5", "2026-11-13T12:00:00Z", "2026-11-15T00:00:00Z"},
		// A step on a star is no star; a step of one is.
		{"0 0 */2 * 5", "2026-11-13T12:00:00Z", "2026-11-15T00:00:00Z"},
		{"0 0 */1 * 5", "2026-11-13T12:00:00Z", "2026-11-20T00:00:00Z"},
	} {
		s, err := parseCron(c.schedule)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := s.next(when(t, c.after))
		if !ok || !got.Equal(when(t, c.want)) {
			t.Errorf("%q after %s: %s, want %s", c.schedule, c.after, got, c.want)
		}
	}
	if s, err := parseCron("0 0 31 2 *"); err != nil {
		t.Error(err)
	} else if at, ok := s.next(navTime); ok {
		t.Errorf("the 31st of February is %s", at)
	}
	for _, bad := range []string{"", "@daily", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "5-1 * * * *", "*/0 * * * *", "*-5 * * * *", "a * * * *", "* * * * mon-", "-1 * * * *", strings.Repeat("1", 300) + " * * * *"} {
		if _, err := parseCron(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// CanSync(false) of Argo CD, case by case. navTime is a Sunday, 12:00 UTC.
func TestSync(t *testing.T) {
	deny := func(schedule, duration string) Window {
		return Window{Kind: "deny", Schedule: schedule, Duration: duration, Applications: []string{"*"}}
	}
	allow := func(schedule, duration string) Window {
		w := deny(schedule, duration)
		w.Kind = "allow"
		return w
	}
	zoned := func(w Window, zone string) Window { w.TimeZone = zone; return w }
	for name, c := range map[string]struct {
		windows []Window
		may     verdict.Tri
		why     string
	}{
		"none":                            {nil, verdict.Yes, ""},
		"a deny that is over":             {[]Window{deny("0 8 * * *", "4h")}, verdict.Yes, ""},
		"a deny that ends in a minute":    {[]Window{deny("1 8 * * *", "4h")}, verdict.No, "closed by deny"},
		"a deny that begins now":          {[]Window{deny("0 12 * * *", "4h")}, verdict.Yes, ""}, // as Argo CD: begun before now
		"an allow that is open":           {[]Window{allow("0 8 * * *", "8h")}, verdict.Yes, ""},
		"an allow that is not":            {[]Window{allow("0 13 * * *", "8h")}, verdict.No, "outside of allow"},
		"deny counts before allow":        {[]Window{allow("0 8 * * *", "8h"), deny("0 8 * * *", "8h")}, verdict.No, "closed by deny"},
		"a deny that sleeps allows":       {[]Window{deny("0 13 * * *", "1h")}, verdict.Yes, ""},
		"one open allow is enough":        {[]Window{allow("0 13 * * *", "1h"), allow("0 11 * * *", "2h")}, verdict.Yes, ""},
		"a zone east of it":               {[]Window{zoned(deny("0 13 * * *", "1h"), "Europe/Berlin")}, verdict.Yes, ""},
		"a zone east of it, begun":        {[]Window{zoned(deny("59 12 * * *", "1h"), "Europe/Berlin")}, verdict.No, "Europe/Berlin"},
		"a zone that nobody knows blocks": {[]Window{zoned(deny("0 1 * * *", "1h"), "Middle/Earth")}, verdict.No, "the time zone"},
		"a schedule that is none blocks":  {[]Window{allow("0 8 * * *", "8h"), deny("@daily", "1h")}, verdict.No, "cannot be read"},
		"a duration that is none blocks":  {[]Window{deny("0 1 * * *", "soon")}, verdict.No, "the duration"},
		"a window without lists":          {[]Window{{Kind: "deny", Schedule: "* * * * *", Duration: "1h"}}, verdict.Yes, ""},
		"another kind":                    {[]Window{{Kind: "perhaps", Schedule: "* * * * *", Duration: "1h", Applications: []string{"*"}}}, verdict.Yes, ""},
	} {
		f := Facts{App: verdict.App{Namespace: "argocd", Name: "web"}, Rules: &AppProject{Windows: c.windows}}
		if may, why := f.Sync(navTime); may != c.may || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, may, why, c.may, c.why)
		}
	}
	if may, _ := (Facts{}).Sync(navTime); may != verdict.Unknown {
		t.Errorf("without a project: %s", may)
	}
}

func TestWindowMatches(t *testing.T) {
	f := Facts{App: verdict.App{Namespace: "team", Name: "web-prod"}, Destination: Destination{Server: "https://k8s.example.com/a", Namespace: "shop"}}
	for _, c := range []struct {
		w    Window
		want bool
	}{
		{Window{Applications: []string{"web-*"}}, true},
		{Window{Applications: []string{"team/web-*"}}, false}, // the name alone
		{Window{Applications: []string{"{api,web}-prod"}}, true},
		{Window{Clusters: []string{"https://k8s*"}}, true},
		{Window{Clusters: []string{"in-cluster"}}, false},
		{Window{Namespaces: []string{"sho?"}, Applications: []string{"api"}}, true},
		{Window{Namespaces: []string{"sho?"}, Applications: []string{"api"}, And: true}, false},
		{Window{Namespaces: []string{"shop"}, Applications: []string{"*"}, And: true}, true},
		{Window{And: true}, false},
		{Window{Applications: []string{"[w"}}, false},
	} {
		if got := c.w.matches(f); got != c.want {
			t.Errorf("%+v: %v", c.w, got)
		}
	}
}

func TestSyncUntil(t *testing.T) {
	f := Facts{App: verdict.App{Name: "web"}, Rules: &AppProject{Windows: []Window{{Kind: "deny", Schedule: "10 12 * * *", Duration: "1h", Applications: []string{"web"}}}}}
	if may, why := f.SyncUntil(navTime, navTime.Add(5*time.Minute)); may != verdict.Yes {
		t.Errorf("%s (%s)", may, why)
	}
	if may, why := f.SyncUntil(navTime, navTime.Add(15*time.Minute)); may != verdict.No || !strings.Contains(why, "2026-11-29T12:10:00Z") {
		t.Errorf("%s (%s)", may, why)
	}
}
