package main

import "strings"

// edges are Applications that are set up in less usual ways.
func edges() []scenario {
	bad := files{"app/web.yaml": web("does-not-exist")}
	return []scenario{
		{name: "bystander-hpa", play: func(s *scene) {
			f := base()
			f["app/scale.yaml"] = autoscaler
			s.first(f)
			s.apply(s.application(s.name, "app"))
			s.reachedAny()
			s.scaler("True", "ScalingActive")
			s.settled()
			s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(5)
			s.note("the metrics server is away")
			s.scaler("False", "FailedGetResourceMetric")
			s.sleep(over)
		}},
		{name: "bystander-service", play: func(s *scene) {
			f := base()
			f["app/lb.yaml"] = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}\n"
			s.first(f)
			s.apply(s.application(s.name, "app"))
			s.reachedAny()
			s.patch("v1", "Service", "web", "status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}", "status")
			s.settled()
			s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(5)
			s.note("the load balancer loses its address")
			s.patch("v1", "Service", "web", "status: {loadBalancer: {ingress: null}}", "status")
			s.sleep(over)
		}},
		{name: "release-under-autoscaler", play: func(s *scene) {
			s.first(base())
			s.start("syncPolicy: {automated: {}}")
			sha := s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.reached(s.name, sha, "Succeeded")
			s.note("an autoscaler wants three pods")
			s.patch("apps/v1", "Deployment", "web", "spec: {replicas: 3}")
			s.sleep(over)
		}},
		{name: "window-closes", play: func(s *scene) {
			s.first(base())
			s.project("syncWindows: [{kind: deny, schedule: \"* * * * *\", duration: 1h, applications: [\"none\"]}]")
			s.start("project: " + s.name)
			sha := s.watched("web: new release", bad)
			s.sleep(10)
			s.note("the deny window closes")
			s.project("syncWindows: [{kind: deny, schedule: \"* * * * *\", duration: 1h, applications: [\"*\"]}]")
			s.sleep(over - 10)
			s.revert(sha)
			s.sleep(50)
		}},
		{name: "no-history", play: func(s *scene) {
			s.first(base())
			s.start("revisionHistoryLimit: 0")
			s.failing("web: new release", bad)
		}},
		{name: "new-application", play: func(s *scene) {
			s.first(files{"README.md": "nothing yet\n"})
			s.rec.Header.Commit = s.other0("web: first release", files{"app/web.yaml": web("does-not-exist")})
			s.apply(s.application(s.name, "app"))
			s.sleep(over)
		}},
		{name: "full-ref", play: func(s *scene) {
			s.first(base())
			s.start(s.source("app", "refs/heads/main"))
			s.failing("web: new release", bad)
		}},
		{name: "generate-paths", play: func(s *scene) {
			s.first(base())
			s.apply(strings.Replace(s.application(s.name, "app"), "metadata:\n", "metadata:\n  annotations: {argocd.argoproj.io/manifest-generate-paths: .}\n", 1))
			s.settled()
			s.watched("other: new", files{"other/web.yaml": configMap("other", "1")})
			s.sleep(45)
		}},
		{name: "path-gone", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("app moved away", files{"app/web.yaml": "", "app/settings.yaml": "", "moved/web.yaml": web("1"), "moved/settings.yaml": configMap("settings", "1")})
			s.sleep(50)
		}},
		{name: "two-changed", play: func(s *scene) {
			f := base()
			f["app/worker.yaml"] = deployment("worker", "registry.example/worker:1")
			s.first(f)
			s.start()
			s.failing("both: new release", files{"app/web.yaml": web("does-not-exist"), "app/worker.yaml": deployment("worker", "registry.example/worker:2")})
		}},
		{name: "waits-for-dependency", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: version 2, and a claim nobody serves", files{"app/web.yaml": web("2"),
				"app/claim.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}\n"})
			s.sleep(over)
		}},
	}
}

const autoscaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 1
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`

// scaler says what the autoscaler says of itself; there is no controller for it.
func (s *scene) scaler(active, reason string) {
	s.patch("autoscaling/v2", "HorizontalPodAutoscaler", "web", `status:
  currentReplicas: 1
  desiredReplicas: 1
  conditions:
  - {type: AbleToScale, status: "True", reason: ReadyForNewScale, lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: ScalingActive, status: "`+active+`", reason: `+reason+`, lastTransitionTime: "2026-01-01T00:00:00Z"}
`, "status")
}

// reachedAny waits until the Application's first operation has succeeded.
func (s *scene) reachedAny() { s.reached(s.name, s.git("rev-parse", "HEAD"), "Succeeded") }
