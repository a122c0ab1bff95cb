package arming

import (
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
		r.Facts.ImageUpdater = ImageUpdater{Managed: true, Method: "git", Said: true, Target: c.target}
		fs := Check(r, AskAll)
		if refused(fs) != c.refused {
			t.Errorf("target %q, commit changes %q: %v", c.target, c.path, fs)
		}
		if !c.refused && (fs[0].Rule != RuleImageUpdater || fs[0].Outcome != Noted) {
			t.Errorf("target %q: not noted: %v", c.target, fs)
		}
	}
	// At the root of the repository.
	r := clean()
	r.Facts.Sources = []verdict.Source{{RepoURL: ourURL, Path: "."}}
	r.Paths = []string{".argocd-source-web.yaml"}
	r.Facts.ImageUpdater = ImageUpdater{Managed: true, Method: "git", Said: true}
	if fs := Check(r, AskAll); !refused(fs) {
		t.Errorf("source at the root: %v", fs)
	}
}
