package arming

import (
	"slices"
	"testing"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

func TestWriteBackTargets(t *testing.T) {
	for _, c := range []struct {
		target, path string
		refused      bool
	}{
		{"", "apps/web/.argocd-source-web.yaml", true},
		{"", "apps/web/.argocd-source-argocd_web.yaml", true},
		{"", "apps/web/.argocd-source-api.yaml", false},
		{"", "apps/web/deployment.yaml", false},
		{"kustomization", "apps/web/kustomization.yaml", true},
		{"kustomization", "apps/web/.argocd-source-web.yaml", false},
		{"kustomization:../base", "apps/base/kustomization.yml", true},
		{"kustomization:/base", "base/Kustomization", true},
		{"helmvalues", "apps/web/values.yaml", true},
		{"helmvalues:prod.yaml", "apps/web/prod.yaml", true},
		{"helmvalues:/values/web.yaml", "values/web.yaml", true},
		{"helmvalues:/values/web.yaml", "apps/web/values.yaml", false},
		{"images.yaml", "apps/web/images.yaml", true},
		{"unheard-of:x", "apps/web/anything.yaml", true},
		{"unheard-of:x", "apps/other/anything.yaml", false},
	} {
		r := clean()
		r.Others = nil
		r.Paths = []string{c.path}
		r.Places[0].ImageUpdater = ImageUpdater{Managed: true, Method: "git", Said: true, Target: c.target}
		fs := slices.DeleteFunc(Check(r, AskAll), func(f Finding) bool { return f.Rule != RuleImageUpdater })
		if refused(fs) != c.refused {
			t.Errorf("target %q, commit changes %q: %v", c.target, c.path, fs)
		}
		if !c.refused && (fs[0].Rule != RuleImageUpdater || fs[0].Outcome != Noted) {
			t.Errorf("target %q: not noted: %v", c.target, fs)
		}
	}
	// At the root of the repository.
	r := clean()
	r.Places[0].Sources = []verdict.Source{{RepoURL: ourURL, Path: "."}}
	r.Paths = []string{".argocd-source-web.yaml"}
	r.Places[0].ImageUpdater = ImageUpdater{Managed: true, Method: "git", Said: true}
	if fs := Check(r, AskAll); !refused(fs) {
		t.Errorf("source at the root: %v", fs)
	}
}

// Which reference takes an Application, and which method counts, is Image
// Updater's own precedence.
func TestUpdaterPrecedence(t *testing.T) {
	git, argocd, onlyGit := &WriteBack{Method: "git"}, &WriteBack{Method: "argocd"}, &WriteBack{Target: "x.yaml"}
	labels := &Selector{Labels: map[string]string{"tier": "prod"}}
	for name, c := range map[string]struct {
		u    Updater
		want Outcome
		none bool
	}{
		"nothing said":                   {Updater{Refs: []UpdaterRef{{NamePattern: "*"}}}, Refuse, false},
		"the resource says git":          {Updater{Config: git, Refs: []UpdaterRef{{NamePattern: "w*"}}}, Noted, false},
		"the reference counts before it": {Updater{Config: git, Refs: []UpdaterRef{{NamePattern: "w*", Config: argocd}}}, Refuse, false},
		"and the other way round":        {Updater{Config: argocd, Refs: []UpdaterRef{{NamePattern: "w*", Config: git}}}, Noted, false},
		"without a method, in Git":       {Updater{Config: git, Refs: []UpdaterRef{{NamePattern: "w*", Config: onlyGit}}}, Refuse, false},
		"without a method, live":         {Updater{Live: true, Config: git, Refs: []UpdaterRef{{NamePattern: "w*", Config: onlyGit}}}, Noted, false},
		"pull requests":                  {Updater{Config: &WriteBack{Method: "git:repocreds", PullRequest: true}, Refs: []UpdaterRef{{NamePattern: "*"}}}, Noted, false},
		"the exact name first":           {Updater{Refs: []UpdaterRef{{NamePattern: "*", Labels: labels, Config: argocd}, {NamePattern: "web", Config: git}}}, Noted, false},
		"labels before letters":          {Updater{Refs: []UpdaterRef{{NamePattern: "we*", Config: argocd}, {NamePattern: "*", Labels: labels, Config: git}}}, Noted, false},
		"other labels":                   {Updater{Refs: []UpdaterRef{{NamePattern: "*", Labels: &Selector{Labels: map[string]string{"tier": "dev"}}}}}, Noted, true},
		"another name":                   {Updater{Refs: []UpdaterRef{{NamePattern: "api"}}}, Noted, true},
		"another namespace":              {Updater{Target: "other", Refs: []UpdaterRef{{NamePattern: "*"}}}, Noted, true},
		"its annotations count":          {Updater{Config: argocd, Refs: []UpdaterRef{{NamePattern: "*", Annotations: true}}}, Noted, false},
	} {
		r := clean()
		r.Places[0].Labels = map[string]string{"tier": "prod"}
		r.Places[0].ImageUpdater = ImageUpdater{Method: "git", Said: true}
		r.Places[0].UpdaterCRD, r.Places[0].Updaters = verdict.Yes, []Updater{c.u}
		fs := Check(r, AskAll)
		if c.none != (len(fs) == 0) {
			t.Errorf("%s: %v", name, fs)
		} else if !c.none && (fs[0].Rule != RuleImageUpdaterCR || fs[0].Outcome != c.want) {
			t.Errorf("%s: %v, want %s", name, fs, c.want)
		}
	}
}
