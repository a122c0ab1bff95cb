package argosim

import (
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Annotations of Argo CD that the simulator obeys.
const (
	annotationRefresh = "argocd.argoproj.io/refresh"
	annotationSkip    = "argocd.argoproj.io/skip-reconcile"
	annotationHook    = "argocd.argoproj.io/hook"
)

// kindRank is the order in which one wave applies kinds (gitops-engine,
// sync_tasks.go); kinds that it does not name come last.
func kindRank(kind string) int {
	order := []string{
		"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget", "ServiceAccount",
		"Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
		"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service",
		"DaemonSet", "Pod", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob",
		"IngressClass", "Ingress", "APIService",
	}
	if i := slices.Index(order, kind); i >= 0 {
		return i
	}
	return len(order)
}

func clusterScoped(kind string) bool {
	switch kind {
	case "Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PersistentVolume",
		"StorageClass", "IngressClass", "PriorityClass", "APIService",
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return true
	}
	return false
}

// runsPods says which kinds own pods here, so that their images count.
func runsPods(id verdict.ObjectID) bool {
	switch id.Group + "/" + id.Kind {
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "batch/Job":
		return true
	}
	return false
}

func isDeployment(id verdict.ObjectID) bool { return id.Group == "apps" && id.Kind == "Deployment" }

func isJob(id verdict.ObjectID) bool { return id.Group == "batch" && id.Kind == "Job" }

// isChild says that the object is itself an Application (app of apps).
func isChild(id verdict.ObjectID) bool {
	return id.Group == "argoproj.io" && id.Kind == "Application"
}

// kubectlName is how kubectl names an object: configmap/settings,
// deployment.apps/web.
func kubectlName(id verdict.ObjectID) string {
	kind := strings.ToLower(id.Kind)
	if id.Group != "" {
		kind += "." + id.Group
	}
	return kind + "/" + id.Name
}

// apiName is how an error of the API server names it: Deployment.apps "web".
func apiName(id verdict.ObjectID) string {
	kind := id.Kind
	if id.Group != "" {
		kind += "." + id.Group
	}
	return kind + ` "` + id.Name + `"`
}

func compareIDs(a, b verdict.ObjectID) int {
	return strings.Compare(a.Group+"\x00"+a.Kind+"\x00"+a.Namespace+"\x00"+a.Name,
		b.Group+"\x00"+b.Kind+"\x00"+b.Namespace+"\x00"+b.Name)
}

// compareApply sorts for the operation loop.
func compareApply(a, b verdict.ObjectID) int {
	if d := kindRank(a.Kind) - kindRank(b.Kind); d != 0 {
		return d
	}
	return compareIDs(a, b)
}
