package main

import "slices"

// scenarios lists all, by what they are about.
func scenarios() []scenario {
	return slices.Concat(syncs(), fixes(), bystanders(), repositoryShapes(), people(), sources(), strange(), blameless(), outages(), edges())
}

// over is how long a recording of an ordinary failure goes on after the push:
// deadline, a revert, and what follows.
const over = 62

// failing pushes a commit that fails, and a revert once it would have.
func (s *scene) failing(subject string, f files) string {
	sha := s.watched(subject, f)
	s.sleep(over)
	return sha
}

// syncs are about the operation: hooks, waves, retries.
func syncs() []scenario {
	broken := func(f files) func(*scene) {
		return func(s *scene) {
			s.first(base())
			s.start()
			sha := s.failing("web: new release", f)
			s.revert(sha)
			s.sleep(60)
		}
	}
	return []scenario{
		{name: "presync-fails", play: broken(files{"app/web.yaml": web("2"), "app/migrate.yaml": job("migrate", "does-not-exist", "PreSync", 5)})},
		{name: "postsync-fails", play: postSyncFails},
		{name: "postsync-slow", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: release with a smoke test", files{"app/web.yaml": web("2"), "app/smoke.yaml": job("smoke", "1", "PostSync", 60)})
			s.sleep(50)
		}},
		{name: "wave-stuck", play: func(s *scene) {
			s.first(files{"app/web.yaml": wave(slow(web("1")), 0), "app/late.yaml": wave(deployment("late", "registry.example/late:1"), 1)})
			s.start()
			sha := s.watched("web: new release", files{"app/web.yaml": wave(slow(web("does-not-exist")), 0), "app/late.yaml": wave(deployment("late", "registry.example/late:2"), 1)})
			s.sleep(over)
			s.revert(sha)
			s.sleep(30)
		}},
		{name: "retry-unlimited", play: func(s *scene) {
			s.first(base())
			s.start("syncPolicy: {automated: {selfHeal: true}, retry: {limit: -1, backoff: {duration: 5s, factor: 1}}}")
			s.watched("web: relabel", files{"app/web.yaml": relabelled()})
			s.sleep(over)
		}},
		{name: "retry-refresh", play: func(s *scene) {
			s.first(base())
			s.start("syncPolicy: {automated: {selfHeal: true}, retry: {limit: 5, refresh: true, backoff: {duration: 5s, factor: 1}}}")
			sha := s.watched("web: relabel", files{"app/web.yaml": relabelled()})
			s.sleep(15)
			s.other("web: fix the labels", files{"app/web.yaml": web("3")})
			s.sleep(55)
			_ = sha
		}},
		{name: "invalid-kind", play: broken(files{"app/widget.yaml": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one}\n"})},
		{name: "namespace-missing", play: broken(files{"app/elsewhere.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: elsewhere, namespace: not-there}\n"})},
		{name: "webhook-away", play: webhookAway},
		{name: "configmap-only", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.sleep(45)
		}},
		{name: "statefulset", play: broken(files{"app/db.yaml": statefulSet("does-not-exist")})},
	}
}

func slow(deployment string) string {
	return replace(deployment, "progressDeadlineSeconds: 20", "progressDeadlineSeconds: 600")
}

// relabelled cannot be applied: a selector is immutable.
func relabelled() string { return replace(web("2"), "{app: web}", "{app: web, tier: front}") }

func postSyncFails(s *scene) {
	s.first(base())
	s.start("syncPolicy: {automated: {selfHeal: true}, retry: {limit: 1, backoff: {duration: 2s, factor: 1}}}")
	sha := s.failing("web: release with a smoke test", files{"app/web.yaml": web("2"), "app/smoke.yaml": job("smoke", "does-not-exist", "PostSync", 5)})
	s.revert(sha)
	s.sleep(45)
}

// webhookAway: an admission webhook nobody answers for. The commit is good.
func webhookAway(s *scene) {
	s.first(base())
	s.start("syncPolicy: {automated: {selfHeal: true}, retry: {limit: 2, backoff: {duration: 5s, factor: 1}}}")
	s.apply(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ` + s.ns + `}
webhooks:
- name: away.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 2
  failurePolicy: Fail
  clientConfig: {url: "https://127.0.0.1:9/validate"}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + s.ns + `}}
  rules: [{apiGroups: [apps], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [deployments]}]
`)
	s.note("an admission webhook does not answer")
	s.watched("web: version 2", files{"app/web.yaml": web("2")})
	s.sleep(over)
	if s.err == nil {
		s.do(s.c.Delete(s.ctx, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", s.ns))
	}
}

// fixes are about what people do about a bad commit.
func fixes() []scenario {
	fix := func(after int) func(*scene) {
		return func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(after)
			s.other("web: fix the tag", files{"app/web.yaml": web("3")})
			s.sleep(60)
		}
	}
	return []scenario{
		{name: "fix-forward", play: fix(30)},
		{name: "fix-quick", play: fix(7)},
		{name: "fix-late", play: fix(55)},
		{name: "reverted-by-person", play: func(s *scene) {
			s.first(base())
			s.start()
			sha := s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(15)
			s.git("revert", "--no-edit", sha)
			s.push(false, s.git("rev-parse", "HEAD"), "revert by a person pushed", s.name)
			s.sleep(45)
		}},
		{name: "force-pushed-away", play: func(s *scene) {
			s.first(base())
			s.start()
			sha := s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(20)
			s.git("tag", "gone", sha)
			s.git("reset", "--quiet", "--hard", "HEAD^")
			other := s.commit("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.push(true, other, "main rewritten and pushed", s.name)
			s.sleep(50)
		}},
		{name: "bad-revert", play: func(s *scene) {
			f := base()
			f["app/web.yaml"] = web("does-not-exist")
			s.first(f)
			good := s.other0("web: works", files{"app/web.yaml": web("2")})
			s.start()
			s.git("revert", "--no-edit", good)
			sha := s.git("rev-parse", "HEAD")
			s.push(false, sha, "commit "+short(sha)+" revert of a good one pushed", s.name)
			s.rec.Header.Commit = sha
			s.sleep(over)
		}},
		{name: "not-recovered", play: notRecovered},
		{name: "adds-broken", play: func(s *scene) {
			s.first(base())
			s.start()
			sha := s.failing("worker: new", files{"app/worker.yaml": deployment("worker", badImage)})
			s.revert(sha)
			s.sleep(80)
		}},
		{name: "later-commit", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(15)
			s.other("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.sleep(50)
		}},
		{name: "same-file-later", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(15)
			s.other("web: history limit", files{"app/web.yaml": web("does-not-exist", "revisionHistoryLimit: 3")})
			s.sleep(50)
		}},
		{name: "autosync-stopped", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(20)
			s.note("a person turns automated sync off")
			s.patchApp(s.name, "spec: {syncPolicy: {automated: null}}")
			s.sleep(45)
		}},
	}
}

// other0 commits and pushes before the Application exists.
func (s *scene) other0(subject string, f files) string {
	sha := s.commit(subject, f)
	s.push(false, sha, "commit "+short(sha)+" "+subject+" pushed")
	return sha
}

// notRecovered: what the revert puts back does not run either, since the
// platform broke in between.
func notRecovered(s *scene) {
	f := base()
	f["app/web.yaml"] = pod("web", "1")
	s.first(f)
	s.start()
	sha := s.watched("web: new release", files{"app/web.yaml": pod("web", "does-not-exist")})
	s.sleep(3)
	s.breakPod("web")
	s.sleep(over - 3)
	s.revert(sha)
	s.sleep(60)
}

const brokenStatus = `status:
  phase: Running
  conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]
  containerStatuses:
  - {name: main, image: any, imageID: any, ready: false, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff, message: back-off}}}
`

const mendedStatus = `status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]
  containerStatuses:
  - {name: main, image: any, imageID: any, ready: true, restartCount: 4, state: {running: {}}}
`

// breakPod lets a bare Pod crash; mendPod heals it.
func (s *scene) breakPod(name string) {
	s.note("the Pod %s crashes", name)
	s.patch("v1", "Pod", name, brokenStatus, "status")
}

func (s *scene) mendPod(name string) {
	s.note("the Pod %s runs again", name)
	s.patch("v1", "Pod", name, mendedStatus, "status")
}
