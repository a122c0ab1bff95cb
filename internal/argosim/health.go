package argosim

import (
	"slices"
	"time"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// healthOf is Argo CD's health check of one live object at t; an empty status
// means that its kind has none.
func healthOf(id verdict.ObjectID, v version, t time.Time) (status, message string) {
	switch id.Group + "/" + id.Kind {
	case "apps/Deployment":
		return deploymentHealth(id, v, t)
	case "apps/StatefulSet", "apps/DaemonSet": // never Degraded
		if v.broken != "" || !v.up(t) {
			return verdict.HealthProgressing, orElse(v.broken, "Waiting for the rollout to finish")
		}
		return verdict.Healthy, ""
	case "batch/Job":
		return jobHealth(v, t)
	case "batch/CronJob": // 3.2: Degraded when its last run failed
		if v.broken != "" {
			return verdict.HealthDegraded, v.broken
		}
		return verdict.Healthy, ""
	case "/Service":
		if text(v.live, "spec", "type") == "LoadBalancer" && value(v.live, "status", "loadBalancer", "ingress") == nil {
			return verdict.HealthProgressing, ""
		}
		return verdict.Healthy, ""
	}
	return "", ""
}

func deploymentHealth(id verdict.ObjectID, v version, t time.Time) (status, message string) {
	switch {
	case v.paused:
		return verdict.Suspended, "Deployment is paused"
	case v.broken != "":
		return verdict.HealthDegraded, v.broken
	case v.up(t):
		return verdict.Healthy, ""
	case v.stuck(t):
		return verdict.HealthDegraded, "Deployment \"" + id.Name + "\" exceeded its progress deadline"
	}
	return verdict.HealthProgressing, "Waiting for rollout to finish"
}

func jobHealth(v version, t time.Time) (status, message string) {
	switch {
	case v.broken != "":
		return verdict.HealthDegraded, v.broken
	case !v.up(t):
		return verdict.HealthProgressing, ""
	case v.failed:
		return verdict.HealthDegraded, "Job has reached the specified backoff limit"
	}
	return verdict.Healthy, "Reached expected number of succeeded pods"
}

// hasHealth says whether Argo CD checks that kind, also while it is missing.
func hasHealth(id verdict.ObjectID) bool {
	status, _ := healthOf(id, version{}, time.Time{})
	return status != ""
}

// worse is the aggregation of an Application's health (gitops-engine,
// pkg/health/health.go).
func worse(a, b string) string {
	order := []string{verdict.Healthy, verdict.Suspended, verdict.HealthProgressing, verdict.HealthMissing, verdict.HealthDegraded, verdict.HealthUnknown}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}
