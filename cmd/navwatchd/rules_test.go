package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// ruleCase is a commit that breaks one arming rule. The same is expected of
// navlint by the inventory that the watcher published, of navlint by manifests in
// the tree alone, of pre-receive at a real push, and of the watcher before a
// revert.
type ruleCase struct {
	rule, name string
	want       string            // error or warning, of navlint and of pre-receive
	app        string            // YAML merged into the Application; null takes away
	around     string            // the objects around it
	policy     string            // keys in the place of the usual ones
	files      map[string]string // what the commit changes besides the image
	only       bool              // it does not change the image
	trailer    string            // in the place of the usual fields

	lint      string        // want of navlint, where the person counts
	inventory string        // rule of the inventory, which lists only Applications of this repository
	tree      string        // want by manifests alone; none: they cannot tell
	also      string        // a rule of which the inventory refuses as well
	age       time.Duration // how long ago the watcher was last heard of
	reverted  bool          // one was reverted before, which opens the circuit
	gate      string        // what holds the revert in the place of eligible; a verdict, if it does not come to that
}

const none = "none"

func project(spec string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: default, namespace: argocd}\nspec: " + spec + "\n"
}

const owned = "metadata: {ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, name: webs, controller: true, uid: u}]}\n"

func appSet(policy string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: webs, namespace: argocd}\nspec: {template: {spec: {syncPolicy: " + policy + "}}}\n"
}

func imageUpdater(reference string) string {
	return "apiVersion: argocd-image-updater.argoproj.io/v1alpha1\nkind: ImageUpdater\nmetadata: {name: iu, namespace: argocd}\nspec: {applicationRefs: [" + reference + "]}\n"
}

func annotated(keys string) string { return "metadata: {annotations: {" + keys + "}}\n" }

const (
	imageList = "argocd-image-updater.argoproj.io/image-list: web=web"
	more      = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"
	elsewhere = "spec: {source: {repoURL: 'https://git.example.com/other'}}\nstatus: {sync: {revision: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, comparedTo: {source: {repoURL: 'https://git.example.com/other'}}}}\n"
	gitMethod = ", argocd-image-updater.argoproj.io/write-back-method: git"
)

func refusedRules() []ruleCase {
	const refused = "error"
	return []ruleCase{
		{rule: arming.RuleNoPolicy, want: refused, tree: none, policy: none},
		{rule: arming.RuleNotAllowed, name: "app", want: refused, policy: "arm: {allow: [{apps: [api], by: ['*']}]}"},
		{rule: arming.RuleNotAllowed, name: "who", want: refused, lint: "warning", policy: "arm: {allow: [{apps: ['*'], by: [somebody-else]}]}"},
		{rule: arming.RuleNeverPaths, want: refused, policy: "arm: {allow: [{apps: ['*'], by: ['*']}], never-paths: ['*.sql']}", files: map[string]string{"apps/web/1.sql": "x"}},
		{rule: arming.RuleUnknownApp, want: refused, trailer: "app=nosuch mode=arm deadline=60 reach=60 stable=30", gate: none},
		{rule: arming.RuleManifests, want: refused, policy: "manifests: [/argo/]\narm: {allow: [{apps: ['*'], by: ['*']}]}", files: map[string]string{"argo/broken.yaml": "{{- range .Values.apps }}\n"}, gate: "REVERTED"},
		{rule: arming.RuleSourceType, want: refused, inventory: arming.RuleUnknownApp, app: "spec: {source: {chart: web, path: null, repoURL: 'https://charts.example.com', targetRevision: 1.0.0}}", gate: "ERROR_UNWATCHABLE"},
		{rule: arming.RuleRepository, want: refused, inventory: arming.RuleUnknownApp, app: elsewhere, gate: "ERROR_UNWATCHABLE"},
		{rule: arming.RuleTargetRevision, name: "branch", want: refused, app: "spec: {source: {targetRevision: release}}\nstatus: {sync: {comparedTo: {source: {targetRevision: release}}}}\n", gate: "ERROR_UNWATCHABLE"},
		{rule: arming.RuleTargetRevision, name: "tag", want: refused, app: "spec: {source: {targetRevision: v1.0.0}}\nstatus: {sync: {comparedTo: {source: {targetRevision: v1.0.0}}}}\n", gate: "ERROR_UNWATCHABLE"},
		{rule: arming.RuleHydrator, want: refused, app: "spec: {source: null, sourceHydrator: {drySource: {repoURL: '" + deployURL + "', path: apps/web, targetRevision: main}, syncSource: {targetBranch: env, path: web}}}", also: arming.RuleNotHealthy, gate: "ERROR_UNWATCHABLE"},
		{rule: arming.RuleSkipReconcile, want: refused, app: annotated("argocd.argoproj.io/skip-reconcile: 'true'"), also: arming.RuleNotHealthy, gate: "WAITING"},
		{rule: arming.RuleAutoSyncOff, name: "none", want: refused, app: "spec: {syncPolicy: {automated: null}}"},
		{rule: arming.RuleAutoSyncOff, name: "disabled", want: refused, app: "spec: {syncPolicy: {automated: {enabled: false}}}"},
		{rule: arming.RulePrune, want: refused, app: "spec: {syncPolicy: {automated: {prune: true}}}"},
		{rule: arming.RulePrune, name: "a revert deletes", want: refused, app: "spec: {syncPolicy: {automated: {prune: true}}}",
			policy: "arm: {allow: [{apps: ['*'], by: ['*']}], accept: [{rule: prune, apps: [web], when: deletes-nothing, reason: images}]}", files: map[string]string{"apps/web/more.yaml": more}},
		{rule: arming.RuleAppSetPrune, want: refused, app: owned, around: appSet("{automated: {prune: true}}")},
		{rule: arming.RuleImageUpdater, name: "argocd by default", want: refused, app: annotated(imageList)},
		{rule: arming.RuleImageUpdater, name: "its file", want: refused, app: annotated(imageList + gitMethod), files: map[string]string{"apps/web/.argocd-source-web.yaml": more}},
		{rule: arming.RuleImageUpdaterCR, name: "argocd by default", want: refused, around: imageUpdater("{namePattern: web}")},
		{rule: arming.RuleImageUpdaterCR, name: "its file", want: refused, around: imageUpdater("{namePattern: '*', writeBackConfig: {method: git}}"), files: map[string]string{"apps/web/.argocd-source-argocd_web.yaml": more}},
		{rule: arming.RuleForeignPath, want: refused, files: map[string]string{"apps/api/more.yaml": more}},
		{rule: arming.RuleNothingDeployed, want: refused, files: map[string]string{"README.md": "x"}, only: true, gate: "CONFIRMED"},
		{rule: arming.RuleProjectSignatures, want: refused, around: project("{signatureKeys: [{keyID: 4AEE18F83AFDEB23}]}")},
		{rule: arming.RuleNotHealthy, want: refused, tree: none, app: "status: {health: {status: Degraded}}", gate: "baseline"},
		{rule: arming.RuleWatcherStale, want: refused, tree: none, age: 16 * time.Minute, gate: "REVERTED"},
		{rule: arming.RuleCircuitOpen, want: refused, tree: none, reverted: true, policy: usualPolicy + "\ncircuit: {consecutive: 1}", gate: "circuit"},
	}
}

func warnedRules() []ruleCase {
	const warned, goes = "warning", "REVERTED"
	return []ruleCase{
		{rule: arming.RuleProjectWindows, want: warned, tree: none, around: project("{syncWindows: [{kind: deny, schedule: '* * * * *', duration: 24h, applications: ['*']}]}"), gate: "deployable"},
		{rule: arming.RuleDeadlineShort, want: warned, gate: goes},
		{rule: arming.RuleRetryStale, want: warned, app: "spec: {syncPolicy: {retry: {limit: 3}}}", gate: goes},
		{rule: arming.RuleAppOfApps, want: warned, tree: none, app: "status: {summary: {isAppOfApps: true}}", gate: none},
		{rule: arming.RuleMovingImage, want: warned, files: map[string]string{"apps/web/job.yaml": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: job}\nspec: {schedule: '0 0 1 1 *', jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: 'tool:latest'}]}}}}}\n"}, gate: goes},
		{rule: arming.RuleReplicas, want: warned, files: map[string]string{"apps/web/hpa.yaml": "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"}, gate: none},
		{rule: arming.RuleIgnored, want: warned, app: "spec: {ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/paused]}]}", gate: goes},
		{rule: arming.RuleReplace, want: warned, app: "spec: {syncPolicy: {syncOptions: [Replace=true]}}", gate: goes},
		{rule: arming.RuleImageUpdater, name: "nobody reads them", want: warned, tree: none, app: annotated(imageList), around: project("{}"), gate: goes},
	}
}

// Every rule, in all places; and a commit that breaks none.
func TestRules(t *testing.T) {
	t.Parallel()
	cases := append(refusedRules(), warnedRules()...)
	cases = append(cases, ruleCase{rule: arming.RulePrune, name: "off", gate: "REVERTED"})
	var covered []string
	bin := buildBoth(t)
	for _, c := range cases {
		covered = append(covered, c.rule)
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			t.Parallel()
			p := newRulePlay(t, bin, c)
			commit := p.commit()
			p.lintByInventory()
			p.lintByTree()
			p.push()
			p.judged(commit)
		})
	}
	for _, r := range arming.Rules() {
		if !slices.Contains(covered, r.ID) {
			t.Errorf("no case breaks %s", r.ID)
		}
	}
}

// What the cluster has and what stands in Git may differ: the stricter counts,
// whichever it is, and both places that lint say that they differ.
func TestRulesDisagree(t *testing.T) {
	t.Parallel()
	bin := buildBoth(t)
	manifest := func(prune string) map[string]string {
		return map[string]string{"argo/web.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec:\n" +
			"  project: default\n  source: {repoURL: '" + deployURL + "', path: apps/web, targetRevision: main}\n" +
			"  destination: {server: 'https://kubernetes.default.svc', namespace: demo-web}\n  syncPolicy: {automated: {prune: " + prune + "}, retry: {limit: 0}}\n"}
	}
	for _, c := range []struct {
		ruleCase
		says string
	}{
		{ruleCase{name: "stricter in Git", files: manifest("true")},
			`\(manifest argo/web.yaml\); it is otherwise in inventory, \d+[sm] old, and the stricter counts \[prune\]`},
		{ruleCase{name: "stricter in the cluster", files: manifest("false"), app: "spec: {syncPolicy: {automated: {prune: true}}}"},
			`\(inventory, \d+[sm] old\); it is otherwise in manifest argo/web.yaml, and the stricter counts \[prune\]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.rule, c.want = arming.RulePrune, "error"
			p := newRulePlay(t, bin, c.ruleCase)
			p.commit()
			p.lintByInventory()
			lint, _ := p.try(p.work.Dir, filepath.Join(bin, "navlint"), "commits", "--branch", "main", "HEAD~1..HEAD")
			push, code := p.try(p.work.Dir, "git", "push", "-q", "origin", "HEAD:main")
			for who, out := range map[string]string{"navlint": lint, "pre-receive": push} {
				if !regexp.MustCompile(c.says).MatchString(out) || code == 0 {
					t.Errorf("%s does not say %q:\n%s", who, c.says, out)
				}
			}
		})
	}
}
