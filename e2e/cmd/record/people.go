package main

import (
	"fmt"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
)

// people are about what is done to an Application by hand.
func people() []scenario {
	return []scenario{
		{name: "rolled-back", play: func(s *scene) {
			old := s.first(base())
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(18)
			s.note("a person turns automated sync off and syncs the old revision")
			s.patchApp(s.name, "spec: {syncPolicy: {automated: null}}")
			s.sync(old, "")
			s.sleep(50)
		}},
		{name: "auto-sync-off", play: func(s *scene) {
			s.first(base())
			s.apply(s.application(s.name, "app", "syncPolicy: {}"))
			s.sleep(4)
			s.sync("", "")
			s.settled()
			s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(55)
		}},
		{name: "selective-sync", play: func(s *scene) {
			s.first(base())
			s.apply(s.application(s.name, "app", "syncPolicy: {}"))
			s.sleep(4)
			s.sync("", "")
			s.settled()
			sha := s.watched("web: new release", files{"app/web.yaml": web("does-not-exist"), "app/settings.yaml": configMap("settings", "2")})
			s.sleep(8)
			s.note("a person syncs the ConfigMap only")
			s.sync(sha, "[{kind: ConfigMap, name: settings}]")
			s.sleep(50)
		}},
		{name: "manual-sync", play: func(s *scene) {
			s.first(base())
			s.apply(s.application(s.name, "app", "syncPolicy: {}"))
			s.sleep(4)
			s.sync("", "")
			s.settled()
			sha := s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(8)
			s.note("a person syncs")
			s.sync(sha, "")
			s.sleep(over)
		}},
		{name: "paused", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: version 2, paused", files{"app/web.yaml": web("2", "paused: true")})
			s.sleep(over)
		}},
		{name: "recreated", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(20)
			s.note("a person deletes the Application and creates it again")
			if s.err == nil {
				s.do(s.c.Delete(s.ctx, "argoproj.io/v1alpha1", "Application", cluster.Namespace, s.name))
			}
			s.sleep(1)
			s.apply(s.application(s.name, "app"))
			s.sleep(45)
		}},
		{name: "window-opens", play: func(s *scene) {
			s.first(base())
			s.project("syncWindows: [{kind: deny, schedule: \"* * * * *\", duration: 1h, applications: [\"none\"]}]")
			s.start("project: " + s.name)
			s.note("the deny window closes")
			s.project("syncWindows: [{kind: deny, schedule: \"* * * * *\", duration: 1h, applications: [\"*\"]}]")
			s.sleep(3)
			s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(20)
			s.note("the window opens")
			s.project("syncWindows: [{kind: deny, schedule: \"* * * * *\", duration: 1h, applications: [\"none\"]}]")
			s.sleep(55)
		}},
		{name: "orphaned-operation", play: func(s *scene) {
			s.first(base())
			s.start()
			sha := s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.reached(s.name, sha, "Succeeded")
			s.sleep(4)
			s.note("the operation is lost: phase Running, and nobody runs it")
			s.patchApp(s.name, "{operation: null, status: {operationState: {phase: Running, finishedAt: null}}}")
			s.sleep(150)
		}},
		{name: "skip-reconcile", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(6)
			s.note("a person stops the controller for this Application")
			s.patchApp(s.name, "metadata: {annotations: {argocd.argoproj.io/skip-reconcile: \"true\"}}")
			s.sleep(over)
		}},
		{name: "controller-stops", apart: true, play: func(s *scene) {
			s.first(base())
			s.start()
			sha := s.watched("web: version 2", files{"app/web.yaml": slow(web("2"))})
			s.reached(s.name, sha, "Succeeded")
			s.sleep(1)
			s.note("the application controller stops")
			s.c.StopPart(cluster.Controller)
			s.sleep(80)
			s.do(s.c.StartPart(cluster.Controller))
			s.sleep(5)
		}},
		{name: "controller-stops-early", apart: true, play: func(s *scene) {
			f := base()
			f["app/web.yaml"] = pod("web", "1")
			s.first(f)
			s.start()
			sha := s.watched("web: new release", files{"app/web.yaml": pod("web", "does-not-exist")})
			s.reached(s.name, sha, "Succeeded")
			s.healthIs(s.name, "Degraded")
			s.sleep(2)
			s.note("the application controller stops; a person fixes the image in the cluster")
			s.c.StopPart(cluster.Controller)
			s.sleep(80)
			s.do(s.c.StartPart(cluster.Controller))
			s.sleep(5)
		}},
		{name: "repo-server-stops", apart: true, play: func(s *scene) {
			s.first(base())
			s.start("syncPolicy: {automated: {selfHeal: true}, retry: {limit: 1, backoff: {duration: 2s, factor: 1}}}")
			s.watched("web: version 2", files{"app/web.yaml": web("2"), "app/wait.yaml": job("wait", "does-not-exist", "PreSync", 8)})
			s.sleep(3)
			s.note("the repo-server stops")
			s.c.StopPart(cluster.RepoServer)
			s.sleep(over)
			s.do(s.c.StartPart(cluster.RepoServer))
			s.sleep(5)
		}},
	}
}

// sync starts an operation as `argocd app sync` does; resources makes it
// selective.
func (s *scene) sync(revision, resources string) {
	op := "initiatedBy: {username: alice}, sync: {syncStrategy: {hook: {}}"
	if revision != "" {
		op += ", revision: " + revision
	}
	if resources != "" {
		op += ", resources: " + resources
	}
	s.patchApp(s.name, "{operation: {"+op+"}}, status: {operationState: null}}")
}

// project makes the scene's own AppProject.
func (s *scene) project(more string) {
	s.apply(fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: %s, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  %s
`, s.name, more))
}
