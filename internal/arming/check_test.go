package arming

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

const (
	ourURL   = "https://git.example.com/team/deploy.git"
	otherURL = "https://git.example.com/team/other.git"
)

func allowing() Policy {
	p := Default()
	p.Exists = true
	p.Groups = map[string][]string{"sre": {"bob"}}
	p.Arm.Allow = []Allow{{Apps: []string{"web"}, By: []string{"alice", "@sre"}}}
	return p
}

// clean is a request of which no rule refuses anything.
func clean() Request {
	return Request{
		Commit: "4f2a9c1", By: "alice", Vouched: Vouched,
		App: verdict.App{Name: "web"}, Mode: trailer.Arm,
		Branch: "refs/heads/main", DefaultBranch: "refs/heads/main",
		Paths: []string{"apps/web/deployment.yaml"},
		Facts: &Facts{
			App: verdict.App{Namespace: "argocd", Name: "web"}, From: "live", Project: "prod", AutoSync: true,
			Sources: []verdict.Source{{RepoURL: ourURL, Path: "apps/web", TargetRevision: "main"}},
		},
		Others: []AppPaths{
			{App: verdict.App{Namespace: "argocd", Name: "web"}, Paths: []string{"apps/web"}},
			{App: verdict.App{Namespace: "argocd", Name: "api"}, Paths: []string{"apps/api"}},
		},
		Named:     []verdict.App{{Name: "web"}},
		Policies:  []NamedPolicy{{"when the commit landed", allowing()}, {"now", allowing()}},
		IsOurRepo: func(url string) bool { return url == ourURL },
	}
}

// everyPolicy changes all policies of a request alike.
func everyPolicy(change func(*Policy)) func(*Request) {
	return func(r *Request) {
		for i := range r.Policies {
			change(&r.Policies[i].Policy)
		}
	}
}

// Each case changes the clean request so that exactly one rule refuses.
var refusals = []struct {
	name, rule string
	change     func(*Request)
	message    string // part of it
}{
	{"nobody read a policy", RuleNoPolicy, func(r *Request) { r.Policies = nil }, "no policy was read"},
	{"no policy now", RuleNoPolicy, func(r *Request) { r.Policies[1].Policy = Default() }, "nobody may arm (policy now)"},
	{"no policy at all", RuleNoPolicy, everyPolicy(func(p *Policy) { *p = Default() }), "(policy when the commit landed, and now)"},

	{"somebody else", RuleNotAllowed, func(r *Request) { r.By = "mallory" }, `"mallory" may not arm argocd/web, only "@sre", "alice"`},
	{"nobody vouched for", RuleNotAllowed, func(r *Request) { r.Vouched = NotVouched }, "nobody is vouched for"},
	{"vouched, but no name", RuleNotAllowed, func(r *Request) { r.By = "" }, "nobody is vouched for"},
	{"app that nobody may arm", RuleNotAllowed, everyPolicy(func(p *Policy) { p.Arm.Allow[0].Apps = []string{"api"} }), "no entry of arm.allow names argocd/web"},
	{"app that nobody may arm, in a lint", RuleNotAllowed, func(r *Request) {
		r.Vouched = VouchNotAssessed
		everyPolicy(func(p *Policy) { p.Arm.Allow = nil })(r)
	}, "no entry of arm.allow names argocd/web"},
	{"allowed then, not now", RuleNotAllowed, func(r *Request) { r.Policies[1].Arm.Allow = nil }, "(policy now)"},
	{"allowed now, not then", RuleNotAllowed, func(r *Request) { r.Policies[0].Arm.Allow = nil }, "(policy when the commit landed)"},

	{"never path", RuleNeverPaths, func(r *Request) {
		r.Paths = []string{"apps/web/migrations/1.sql"}
		everyPolicy(func(p *Policy) { p.Arm.NeverPaths = []string{"**/migrations/**"} })(r)
	}, `"apps/web/migrations/1.sql" is among the paths that may never be armed ("**/migrations/**")`},
	{"never paths of the old policy", RuleNeverPaths, func(r *Request) {
		r.Policies[0].Arm.NeverPaths = []string{"*.md", "*.yaml"}
		r.Paths = append(r.Paths, "apps/web/b.yaml")
	}, `and 1 more are`},

	{"unknown app", RuleUnknownApp, func(r *Request) { r.Facts = nil }, "no Application web is known"},
	{"facts of another app", RuleUnknownApp, func(r *Request) { r.Facts.App.Name = "api" }, "of argocd/api, not of web"},

	{"chart", RuleSourceType, func(r *Request) {
		r.Facts.Sources = []verdict.Source{{Kind: verdict.SourceChart, RepoURL: ourURL, Chart: "web"}, {Kind: verdict.SourceOCI, RepoURL: "oci://x"}}
	}, "no plain git source, only chart and oci"},
	{"no source", RuleSourceType, func(r *Request) { r.Facts.Sources = nil }, "it has no source at all"},

	{"other repository", RuleRepository, func(r *Request) { r.Facts.Sources[0].RepoURL = "https://bot:secret@git.example.com/x?token=secret" }, `they are "https://git.example.com/x"`},
	{"nothing is ours", RuleRepository, func(r *Request) { r.IsOurRepo = nil }, "no source of argocd/web is this repository"},
	{"our name on a chart only", RuleRepository, func(r *Request) {
		r.Facts.Sources = []verdict.Source{{Kind: verdict.SourceChart, RepoURL: ourURL}, {RepoURL: otherURL}}
	}, otherURL},

	{"other branch", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = "stable" }, `another branch or a tag, "stable", not the branch "main"`},
	{"other branch, in full", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = "refs/heads/stable" }, `the branch "refs/heads/stable"`},
	{"commit", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = strings.Repeat("ab", 20) }, "the commit abab"},
	{"commit, though the branch is called so", RuleTargetRevision, func(r *Request) {
		r.Facts.Sources[0].TargetRevision = strings.Repeat("ab", 20)
		r.Branch = strings.Repeat("ab", 20)
	}, "the commit abab"},
	{"short commit", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = "4f2a9c1" }, "the short commit"},
	{"tag", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = "refs/tags/main" }, `the tag "refs/tags/main"`},
	{"version", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = "v1.2.3" }, `the tag "v1.2.3"`},
	{"range", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = ">=1.2 <2" }, "the version range"},
	{"wildcard range", RuleTargetRevision, func(r *Request) { r.Facts.Sources[0].TargetRevision = "v1.x" }, "the version range"},
	{"HEAD is another branch", RuleTargetRevision, func(r *Request) {
		r.Facts.Sources[0].TargetRevision = "HEAD"
		r.Branch = "release"
	}, `the default branch "main", not "release"`},
	{"empty is another branch", RuleTargetRevision, func(r *Request) {
		r.Facts.Sources[0].TargetRevision = ""
		r.Branch = "release"
	}, `the default branch "main", not "release"`},
	{"HEAD is not known", RuleTargetRevision, func(r *Request) {
		r.Facts.Sources[0].TargetRevision = "HEAD"
		r.DefaultBranch = ""
	}, "the default branch, which is not known"},
	{"the branch is not known", RuleTargetRevision, func(r *Request) { r.Branch = "" }, "the branch of the commit is not known"},
	{"a values source on a tag", RuleTargetRevision, func(r *Request) {
		r.Facts.Sources = append(r.Facts.Sources, verdict.Source{RepoURL: ourURL, Ref: "values", TargetRevision: "v1.0.0"})
	}, `a source of argocd/web follows the tag "v1.0.0"`},

	{"hydrator", RuleHydrator, func(r *Request) { r.Facts.Hydrator, r.Facts.Sources = true, nil }, "source hydrator"},
	{"skip-reconcile", RuleSkipReconcile, func(r *Request) { r.Facts.SkipReconcile = true }, "frozen"},
	{"auto-sync off", RuleAutoSyncOff, func(r *Request) { r.Facts.AutoSync = false }, "auto-sync of argocd/web is off"},
	{"prune", RulePrune, func(r *Request) { r.Facts.Prune = true }, "would delete what the commit added"},
	{"prune, disabled, of a set", RulePrune, func(r *Request) {
		r.Facts.Prune, r.Facts.AutoSync, r.Facts.OwnedBySet = true, false, true
	}, "also while automated.enabled is false"},

	{"Image Updater by default", RuleImageUpdater, func(r *Request) { r.Facts.ImageUpdater = ImageUpdater{Managed: true} }, "argocd (the default)"},
	{"Image Updater argocd", RuleImageUpdater, func(r *Request) {
		r.Facts.ImageUpdater = ImageUpdater{Managed: true, Method: " argocd ", Said: true}
	}, "write-back method argocd:"},
	{"Image Updater, unknown method", RuleImageUpdater, func(r *Request) {
		r.Facts.ImageUpdater = ImageUpdater{Managed: true, Method: "gitops", Said: true}
	}, `unknown write-back method "gitops"`},
	{"Image Updater git, its file", RuleImageUpdater, func(r *Request) {
		r.Facts.ImageUpdater = ImageUpdater{Managed: true, Method: "git:secret:argocd/x", Said: true}
		r.Paths = []string{"apps/web/.argocd-source-web.yaml"}
	}, `writes "apps/web/.argocd-source-web.yaml"`},

	{"foreign path", RuleForeignPath, func(r *Request) { r.Paths = append(r.Paths, "apps/api/x.yaml") }, `"apps/api/x.yaml", inside the source path of "argocd/api"`},
	{"foreign path is a file or submodule", RuleForeignPath, func(r *Request) { r.Paths = append(r.Paths, "apps/api") }, `"apps/api"`},
	{"app of the whole repository", RuleForeignPath, func(r *Request) { r.Others[1].Paths = []string{"."} }, `"argocd/api"`},
}

func TestCheckRefuses(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			r := clean()
			c.change(&r)
			var refused []Finding
			for _, f := range Check(r, AskAll) {
				if f.Outcome == Refuse {
					refused = append(refused, f)
				}
			}
			if len(refused) != 1 || refused[0].Rule != c.rule || !strings.Contains(refused[0].Message, c.message) {
				t.Fatalf("refused %v, want only %s with %q", refused, c.rule, c.message)
			}
			if refused[0].Hint == "" || strings.Contains(refused[0].Message, "secret") {
				t.Errorf("no hint, or a password in %q", refused[0])
			}
		})
		covered[c.rule] = true
	}
	for _, rule := range []string{RuleProjectSignatures, RuleProjectWindows, RuleImageUpdaterCR, RuleAppSetPrune} {
		covered[rule] = true // never refuse yet: TestNotAssessed
	}
	for _, rule := range Rules() {
		if !covered[rule.ID] {
			t.Errorf("no case makes %s refuse", rule.ID)
		}
	}
}

// What is not looked at is said, and refuses nothing.
func TestNotAssessed(t *testing.T) {
	rules := func(fs []Finding, o Outcome) (ids []string) {
		for _, f := range fs {
			if f.Outcome == o {
				ids = append(ids, f.Rule)
			}
		}
		return ids
	}
	always := []string{RuleImageUpdaterCR, RuleProjectSignatures, RuleProjectWindows}
	for _, c := range []struct {
		name   string
		change func(*Request)
		want   []string
	}{
		{"always", func(*Request) {}, always},
		{"owned by a set", func(r *Request) { r.Facts.OwnedBySet = true }, append([]string{RuleAppSetPrune}, always...)},
		{"perhaps a RollingSync", func(r *Request) { r.Facts.OwnedBySet, r.Facts.AutoSync = true, false },
			append([]string{RuleAutoSyncOff, RuleAppSetPrune}, always...)},
		{"who pushes, in a lint", func(r *Request) { r.Vouched = VouchNotAssessed }, append([]string{RuleNotAllowed}, always...)},
		{"a ref source may read any file", func(r *Request) { r.Others[1].AnyFile = true },
			[]string{RuleImageUpdaterCR, RuleForeignPath, RuleProjectSignatures, RuleProjectWindows}},
	} {
		r := clean()
		c.change(&r)
		fs := Check(r, AskAll)
		if refused(fs) {
			t.Errorf("%s: refused: %v", c.name, fs)
		}
		if diff := cmp.Diff(c.want, rules(fs, NotAssessed)); diff != "" {
			t.Errorf("%s: not assessed (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestCheckAllows(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"clean":      func(*Request) {},
		"by a group": func(r *Request) { r.By = "bob" },
		"everybody": func(r *Request) {
			r.Vouched = NotVouched
			everyPolicy(func(p *Policy) { p.Arm.Allow[0].By = []string{"*"} })(r)
		},
		"HEAD":           func(r *Request) { r.Facts.Sources[0].TargetRevision = "HEAD" },
		"no revision":    func(r *Request) { r.Facts.Sources[0].TargetRevision = "" },
		"in full":        func(r *Request) { r.Facts.Sources[0].TargetRevision = "refs/heads/main" },
		"short names":    func(r *Request) { r.Branch, r.DefaultBranch = "main", "main" },
		"hex branch":     func(r *Request) { r.Branch, r.Facts.Sources[0].TargetRevision = "deadbeef", "deadbeef" },
		"version branch": func(r *Request) { r.Branch, r.Facts.Sources[0].TargetRevision = "1.x", "1.x" },
		"other source pinned, not touched": func(r *Request) {
			r.Facts.Sources = append(r.Facts.Sources, verdict.Source{RepoURL: ourURL, Path: "base", TargetRevision: "v1.0.0"})
		},
		"chart beside": func(r *Request) {
			r.Facts.Sources = append(r.Facts.Sources, verdict.Source{Kind: verdict.SourceChart, RepoURL: "https://charts", TargetRevision: "1.0.0"})
		},
		"Image Updater git, another file": func(r *Request) {
			r.Facts.ImageUpdater = ImageUpdater{Managed: true, Method: "git", Said: true}
		},
		"Image Updater method without image-list": func(r *Request) { r.Facts.ImageUpdater = ImageUpdater{Method: "argocd", Said: true} },
		"foreign app that is named": func(r *Request) {
			r.Paths = append(r.Paths, "apps/api/x.yaml")
			r.Named = append(r.Named, verdict.App{Name: "api"})
		},
		"neighbour whose path only begins alike": func(r *Request) { r.Paths = append(r.Paths, "apps/api-v2/x.yaml") },
		"shadow asks for nothing": func(r *Request) {
			*r = Request{Mode: trailer.Shadow, App: r.App}
		},
	} {
		r := clean()
		change(&r)
		if fs := Check(r, AskAll); refused(fs) {
			t.Errorf("%s: refused: %v", name, fs)
		}
	}
}

// Propose needs a policy and a person as arm does.
func TestCheckPropose(t *testing.T) {
	r := clean()
	r.Mode, r.Policies = trailer.Propose, []NamedPolicy{{"now", Default()}}
	if fs := Check(r, AskPolicy); !refused(fs) {
		t.Errorf("propose without a policy: %v", fs)
	}
	r.Mode = ""
	if fs := Check(r, AskPolicy); !refused(fs) {
		t.Errorf("a mode that nobody filled in: %v", fs)
	}
}

// The hook asks the policy alone: an unknown app is no finding there, and
// facts are not looked at.
func TestAskPolicy(t *testing.T) {
	policyRules := []string{RuleNoPolicy, RuleNotAllowed, RuleNeverPaths}
	for _, c := range refusals {
		r := clean()
		c.change(&r)
		r.Facts = nil
		fs := Check(r, AskPolicy)
		if want := slices.Contains(policyRules, c.rule); refused(fs) != want {
			t.Errorf("%s: refused %v, want %v: %v", c.name, refused(fs), want, fs)
		}
		for _, f := range fs {
			if !slices.Contains(policyRules, f.Rule) {
				t.Errorf("%s: finding of %s", c.name, f.Rule)
			}
		}
	}
}

// Findings come in the order of Rules, the same on every run.
func TestCheckOrder(t *testing.T) {
	r := clean()
	r.Policies[1].Policy = Default()
	r.By, r.Paths = "mallory", []string{"m/x", "apps/api/x"}
	r.Policies[0].Arm.NeverPaths = []string{"m"}
	r.Others[1].AnyFile = true
	r.Facts.Sources[0].TargetRevision, r.Facts.SkipReconcile = "stable", true
	r.Facts.AutoSync, r.Facts.Prune, r.Facts.OwnedBySet = false, true, true
	r.Facts.ImageUpdater.Managed = true
	var order, got []string
	for _, rule := range Rules() {
		order = append(order, rule.ID)
	}
	for _, f := range Check(r, AskAll) {
		got = append(got, f.Rule)
	}
	sorted := slices.Clone(got)
	slices.SortStableFunc(sorted, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	if diff := cmp.Diff(sorted, got); diff != "" || len(got) < 12 {
		t.Errorf("order (-want +got):\n%s\n%q", diff, got)
	}
}

// refused reports whether any finding refuses.
func refused(fs []Finding) bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Outcome == Refuse })
}
