package main

import (
	"fmt"
	"strings"
	"time"
)

func replace(s, old, with string) string { return strings.ReplaceAll(s, old, with) }

func statefulSet(image string) string {
	return replace(replace(deployment("db", "registry.example/db:"+image), "kind: Deployment", "kind: StatefulSet"), "  progressDeadlineSeconds: 20\n", "  serviceName: db\n")
}

// bystanders are about what the commit did not break.
func bystanders() []scenario {
	return []scenario{
		{name: "broken-before", play: func(s *scene) {
			f := base()
			f["app/web.yaml"] = web("does-not-exist")
			s.first(f)
			s.apply(s.application(s.name, "app"))
			s.healthIs(s.name, "Degraded")
			s.sleep(3)
			s.watched("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.sleep(over)
		}},
		{name: "bystander-pod", play: func(s *scene) {
			f := base()
			f["app/legacy.yaml"] = pod("legacy", "1")
			s.first(f)
			s.start()
			s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(4)
			s.breakPod("legacy")
			s.sleep(over)
		}},
		{name: "bystander-cronjob", play: func(s *scene) {
			f := base()
			f["app/nightly.yaml"] = cronJob()
			s.first(f)
			s.start()
			s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(3)
			s.note("the nightly job fails")
			now := time.Now().UTC()
			s.patch("batch/v1", "CronJob", "nightly", fmt.Sprintf("status: {lastScheduleTime: %q, lastSuccessfulTime: %q}",
				now.Format(time.RFC3339), now.Add(-time.Hour).Format(time.RFC3339)), "status")
			s.sleep(over)
		}},
		{name: "healthy-then-crash", play: func(s *scene) {
			s.first(files{"app/web.yaml": pod("web", "1")})
			s.start()
			s.watched("web: version 2", files{"app/web.yaml": pod("web", "2")})
			s.sleep(12)
			s.breakPod("web")
			s.sleep(over)
		}},
		{name: "blip", play: func(s *scene) {
			s.first(files{"app/web.yaml": pod("web", "1")})
			s.start()
			s.watched("web: version 2", files{"app/web.yaml": pod("web", "2")})
			s.sleep(12)
			s.breakPod("web")
			s.sleep(5)
			s.mendPod("web")
			s.sleep(45)
		}},
		{name: "drift", play: drift("{automated: {}}", 1)},
		{name: "drift-healed", play: drift("{automated: {selfHeal: true}}", 1)},
		{name: "scale-fight", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.sleep(4)
			s.note("an autoscaler wants two pods, again and again")
			for range 20 {
				s.patch("apps/v1", "Deployment", "web", "spec: {replicas: 2}")
				s.sleep(4)
			}
		}},
		{name: "scaled", play: func(s *scene) {
			s.first(base())
			s.start("syncPolicy: {automated: {}}")
			s.watched("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.sleep(6)
			s.note("a person scales to 2")
			s.patch("apps/v1", "Deployment", "web", "spec: {replicas: 2}")
			s.sleep(over)
		}},
		{name: "storm-commit", app: "storm-commit-a", play: func(s *scene) { storm(s, true) }},
		{name: "storm-platform", app: "storm-platform-a", play: func(s *scene) { storm(s, false) }},
	}
}

func cronJob() string {
	return replace(`apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, nodeName: NODE, containers: [{name: main, image: "registry.example/job:1"}]}
`, "NODE", "kwok-node-0")
}

// drift: a good commit, then somebody sets an image in the cluster.
func drift(policy string, times int) func(*scene) {
	return func(s *scene) {
		s.first(base())
		s.start("syncPolicy: " + policy)
		s.watched("web: version 2", files{"app/web.yaml": web("2")})
		s.sleep(8)
		for range times {
			s.note("a person sets the image in the cluster")
			s.patch("apps/v1", "Deployment", "web", fmt.Sprintf("spec: {template: {spec: {containers: [{name: main, image: %q}]}}}", badImage))
			s.sleep(over)
		}
	}
}

// storm: three Applications turn bad together, by one commit or by themselves.
func storm(s *scene, byCommit bool) {
	apps := []string{s.name + "-a", s.name + "-b", s.name + "-c"}
	f, bad := files{}, files{}
	for _, a := range apps {
		f[a+"/web.yaml"] = pod(a, "1")
		bad[a+"/web.yaml"] = pod(a, "does-not-exist")
	}
	s.first(f)
	for _, a := range apps {
		s.apply(s.application(a, a))
	}
	s.settled(apps...)
	if byCommit {
		s.watched(trailers("base image: new release", "arm", apps...), bad, apps...)
		s.sleep(over)
		return
	}
	s.watched("web: version 2", files{apps[0] + "/web.yaml": pod(apps[0], "2")}, apps...)
	s.sleep(8)
	for _, a := range apps {
		s.breakPod(a)
	}
	s.sleep(over)
}
