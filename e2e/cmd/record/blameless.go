package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/e2e/repository"
)

// blameless are about commits that look guilty: something else was changed at
// the same time, or a person stepped in.
func blameless() []scenario {
	return []scenario{
		{name: "other-repository", play: otherRepository},
		{name: "spec-edited", play: func(s *scene) { specEdited(s, 8) }},
		{name: "spec-edited-with-it", play: func(s *scene) { specEdited(s, -1) }},
		{name: "policy-denies-others", play: policyDenies},
		{name: "broken-just-before", play: func(s *scene) {
			s.first(files{"app/web.yaml": pod("web", "1")})
			s.start()
			s.breakPod("web")
			s.watched("web: version 2", files{"app/web.yaml": pod("web", "2")})
			s.sleep(over)
		}},
		{name: "comment-then-crash", play: func(s *scene) {
			s.first(files{"app/web.yaml": pod("web", "1")})
			s.start()
			s.watched("web: a comment", files{"app/web.yaml": "# what this is\n" + pod("web", "1")})
			s.sleep(4)
			s.breakPod("web")
			s.sleep(over)
		}},
		{name: "fixed-before-sync", play: func(s *scene) {
			s.first(base())
			s.start()
			sha := s.commit("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.rec.Header.Commit = sha
			s.other("web: fix the tag", files{"app/web.yaml": web("3")})
			s.sleep(45)
		}},
		{name: "smoke-test-late", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: release with a smoke test", files{"app/web.yaml": web("2"), "app/smoke.yaml": job("smoke", "does-not-exist", "PostSync", 300)})
			s.sleep(52)
			s.note("the image of the smoke test can be pulled now")
			s.repull("smoke")
			s.sleep(45)
		}},
		{name: "shared-resource", app: "shared-resource-a", play: sharedResource},
		{name: "terminated", play: func(s *scene) {
			s.first(files{"app/web.yaml": wave(slow(web("1")), 0), "app/late.yaml": wave(configMap2("late", "1"), 1)})
			s.start()
			s.watched("web: new release", files{"app/web.yaml": wave(slow(web("does-not-exist")), 0), "app/late.yaml": wave(configMap2("late", "2"), 1)})
			s.sleep(15)
			s.note("a person terminates the operation")
			s.patchApp(s.name, "status: {operationState: {phase: Terminating}}")
			s.sleep(over - 10)
		}},
		{name: "retry-heals", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("elsewhere: new", files{"app/elsewhere.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: elsewhere, namespace: " + s.ns + "-2}\n"})
			s.sleep(12)
			s.note("a person creates the namespace")
			s.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + s.ns + "-2}}")
			s.sleep(50)
		}},
		{name: "deleted-live", play: func(s *scene) {
			s.first(base())
			s.start("syncPolicy: {automated: {}}")
			s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(8)
			s.note("a person deletes the Deployment")
			if s.err == nil {
				s.do(s.c.Delete(s.ctx, "apps/v1", "Deployment", s.ns, "web"))
			}
			s.sleep(over)
		}},
		{name: "hook-only", play: func(s *scene) {
			s.first(files{"app/web.yaml": web("1"), "app/smoke.yaml": job("smoke", "1", "PostSync", 60)})
			s.start()
			s.watched("smoke: another image", files{"app/smoke.yaml": job("smoke", "does-not-exist", "PostSync", 5)})
			s.sleep(50)
		}},
		{name: "old-smoke-test-fails", play: func(s *scene) {
			s.first(files{"app/web.yaml": web("1"), "app/settings.yaml": configMap("settings", "1"), "app/smoke.yaml": job("smoke", "1", "PostSync", 5)})
			s.start("syncPolicy: {automated: {selfHeal: true}, retry: {limit: 1, backoff: {duration: 2s, factor: 1}}}")
			s.watched("smoke: checks more", files{"app/smoke.yaml": job("smoke", "does-not-exist", "PostSync", 5), "app/settings.yaml": configMap("settings", "2")})
			s.sleep(over)
		}},
	}
}

// configMap2 is a ConfigMap that wave() can mark.
func configMap2(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata: {value: %q}\n", name, value)
}

// policyDenies: a new admission policy refuses the Deployment, which
// server-side apply sends again with every sync. The commit changes a ConfigMap.
func policyDenies(s *scene) {
	s.first(base())
	s.start("syncPolicy: {automated: {selfHeal: true}, retry: {limit: 1, backoff: {duration: 2s, factor: 1}}, syncOptions: [ServerSideApply=true]}")
	s.note("an admission policy refuses Deployments from now on")
	s.apply(replace(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NS}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [deployments]}]
  validations: [{expression: "false", message: "no Deployments here"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NS}
spec:
  policyName: NS
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}}
`, "NS", s.ns))
	s.sleep(5)
	s.watched("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
	s.sleep(over)
	if s.err == nil {
		s.do(s.c.Delete(s.ctx, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", s.ns))
	}
}

// otherRepository: two repositories feed one Application. The watched commit is
// good; one in the other repository, synced together with it, is not.
func otherRepository(s *scene) {
	two, err := repository.New(s.ctx, s.dir, s.name+"-two")
	if !s.do(err) {
		return
	}
	commit := func(image string) {
		if s.err == nil {
			_, err := two.Commit(s.ctx, "web: "+image, map[string]string{"app/web.yaml": web(image)})
			s.do(err)
			s.do(two.Push(s.ctx, false))
		}
	}
	commit("1")
	s.first(files{"settings/settings.yaml": configMap("settings", "1")})
	s.start("source: -", fmt.Sprintf("sources: [{repoURL: %q, path: settings, targetRevision: main}, {repoURL: %q, path: app, targetRevision: main}]", s.repo.URL, two.URL))
	s.note("somebody pushes a bad image to the other repository")
	commit("does-not-exist")
	s.watched("settings: 2", files{"settings/settings.yaml": configMap("settings", "2")})
	s.sleep(over)
}

// specEdited: the commit is good; then somebody overrides the image in the
// Application itself, as an Image Updater does.
// After is how many seconds later; negative: right before the commit lands.
func specEdited(s *scene, after int) {
	f := base()
	f["app/kustomization.yaml"] = kustomized("1")
	s.first(f)
	s.start()
	override := func() {
		s.note("somebody overrides the image in the Application")
		s.patchApp(s.name, "spec: {source: {kustomize: {images: [\"registry.example/web:does-not-exist\"]}}}")
	}
	settings := files{"app/kustomization.yaml": kustomized("2"), "app/settings.yaml": configMap("settings", "2")}
	if after < 0 {
		sha := s.commit("web: version 2", settings)
		s.rec.Header.Commit = sha
		s.do(s.repo.Push(s.ctx, false)) // found by the refresh that the change of the spec causes
		s.do(s.rec.Note("commit "+short(sha)+" web: version 2 pushed", sha))
		override()
	} else {
		s.watched("web: version 2", settings)
		s.sleep(after)
		override()
	}
	s.sleep(over)
}

// pulled lets the Pods of a Deployment run, as if their image could be pulled.
func (s *scene) pulled(app string) {
	if s.err != nil {
		return
	}
	pods, err := s.c.Kube.CoreV1().Pods(s.ns).List(s.ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if !s.do(err) {
		return
	}
	for _, p := range pods.Items {
		s.patch("v1", "Pod", p.Name, "spec: {containers: [{name: main, image: \"registry.example/web:2\"}]}")
	}
}

// repull replaces the images of the Pods of a Job, as if they could be pulled.
func (s *scene) repull(job string) {
	if s.err != nil {
		return
	}
	pods, err := s.c.Kube.CoreV1().Pods(s.ns).List(s.ctx, metav1.ListOptions{LabelSelector: "job-name=" + job})
	if !s.do(err) {
		return
	}
	for _, p := range pods.Items {
		s.patch("v1", "Pod", p.Name, "spec: {containers: [{name: main, image: \"registry.example/job:1\"}]}")
		s.patch("v1", "Pod", p.Name, "status: {phase: Succeeded, containerStatuses: [{name: main, image: any, imageID: any, ready: false, restartCount: 0, state: {terminated: {exitCode: 0, reason: Completed}}}]}", "status")
	}
}

// sharedResource: the commit gives one Application what another one has, too.
func sharedResource(s *scene) {
	s.first(files{"a/web.yaml": web("1"), "b/settings.yaml": configMap("settings", "1")})
	apps := []string{s.name + "-a", s.name + "-b"}
	s.apply(s.application(apps[0], "a"))
	s.apply(s.application(apps[1], "b"))
	s.settled(apps...)
	s.watched("a: settings of its own", files{"a/settings.yaml": configMap("settings", "2")}, apps...)
	s.sleep(over)
}

// outages take parts of Argo CD away; each is played alone.
func outages() []scenario {
	without := func(part string, before, after int) func(*scene) {
		return func(s *scene) {
			s.first(base())
			s.start()
			if before < 0 {
				s.note("%s stops", part)
				s.c.StopPart(part)
			}
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			if before >= 0 {
				s.sleep(before)
				s.note("%s stops", part)
				s.c.StopPart(part)
			}
			s.sleep(after)
			s.note("%s is back", part)
			s.do(s.c.StartPart(part))
			s.sleep(40)
		}
	}
	return []scenario{
		{name: "repo-server-away", apart: true, play: without(cluster.RepoServer, -1, 60)},
		{name: "repo-server-away-later", apart: true, play: without(cluster.RepoServer, 6, 60)},
		{name: "redis-away", apart: true, play: without(cluster.Redis, 6, 10)},
		{name: "good-while-repo-server-away", apart: true, play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: version 2, slow to start", files{"app/web.yaml": slow(web("does-not-exist"))})
			s.sleep(20)
			s.note("%s stops", cluster.RepoServer)
			s.c.StopPart(cluster.RepoServer)
			s.sleep(2)
			s.note("the image can be pulled now")
			s.pulled("web")
			s.sleep(55)
			s.note("%s is back", cluster.RepoServer)
			s.do(s.c.StartPart(cluster.RepoServer))
			s.sleep(45)
		}},
		{name: "controller-restarts", apart: true, play: without(cluster.Controller, 6, 8)},
	}
}
