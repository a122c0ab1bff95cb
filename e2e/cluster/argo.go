package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names of parts that can be stopped.
const (
	APIServer  = "kube-apiserver"
	Redis      = "redis"
	RepoServer = "argocd-repo-server"
	Controller = "argocd-application-controller"
)

// crds installs Argo CD's kinds.
func (c *Cluster) crds(ctx context.Context) error {
	crds, err := filepath.Glob(filepath.Join(filepath.Dir(c.o.Bin), "crds", "*.yaml"))
	if err != nil || len(crds) == 0 {
		return fmt.Errorf("no CRDs in crds/ beside %s: %w", c.o.Bin, err)
	}
	for _, crd := range crds {
		data, err := os.ReadFile(crd)
		if err != nil {
			return err
		}
		if err := c.Apply(ctx, string(data)); err != nil {
			return err
		}
	}
	return c.await(ctx, APIServer, func(ctx context.Context) error {
		c.mapper.Reset()
		_, err := c.Dynamic.Resource(Applications).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

// argo installs and starts Argo CD. Its reconciliation timeout is 15 s without
// jitter, so that tests are short.
func (c *Cluster) argo(ctx context.Context) error {
	if err := c.await(ctx, APIServer, func(ctx context.Context) error {
		c.mapper.Reset()
		return c.Apply(ctx, fmt.Sprintf(installation, c.Server, token))
	}); err != nil {
		return err
	}
	return c.argoParts(ctx)
}

func (c *Cluster) argoParts(ctx context.Context) error {
	redis, repo := "127.0.0.1:"+c.port(4), "127.0.0.1:"+c.port(5)
	server, err := redisServer()
	if err != nil {
		return err
	}
	if err := c.add(Redis, server, "--port", c.port(4), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", c.o.Dir); err != nil {
		return err
	}
	c.env = append(c.env, "ARGOCD_GPG_ENABLED=false", "PATH="+c.o.Bin+":"+os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null")
	if err := c.add(RepoServer, "argocd-repo-server", "--redis", redis, "--disable-tls", "--address", "127.0.0.1",
		"--port", c.port(5), "--metrics-address", "127.0.0.1", "--metrics-port", c.port(6), "--revision-cache-expiration", "10s"); err != nil {
		return err
	}
	if err := c.await(ctx, RepoServer, answers("http://127.0.0.1:"+c.port(6)+"/healthz")); err != nil {
		return err
	}
	args := append([]string{"--kubeconfig", c.Kubeconfig, "--namespace", Namespace, "--redis", redis, "--repo-server", repo,
		"--repo-server-plaintext", "--metrics-port", c.port(7), "--app-resync", "15", "--app-resync-jitter", "0",
		"--self-heal-timeout-seconds", "5", "--repo-error-grace-period-seconds", "15"}, c.o.ControllerArgs...)
	if err := c.add(Controller, "argocd-application-controller", args...); err != nil {
		return err
	}
	if err := c.add("argocd-applicationset-controller", "argocd-applicationset-controller", "--kubeconfig", c.Kubeconfig, "--namespace", Namespace,
		"--argocd-repo-server", repo, "--repo-server-plaintext", "--enable-progressive-syncs",
		"--metrics-addr", "127.0.0.1:"+c.port(8), "--probe-addr", "127.0.0.1:"+c.port(9), "--webhook-addr", "127.0.0.1:"+c.port(10)); err != nil {
		return err
	}
	return c.await(ctx, Controller, answers("http://127.0.0.1:"+c.port(7)+"/healthz"))
}

// Argo CD's HTTP API, without authentication.
func (c *Cluster) ArgoServer(ctx context.Context) (address string, err error) {
	address = "http://127.0.0.1:" + c.port(11)
	if err := c.add("argocd-server", "argocd-server", "--insecure", "--disable-auth", "--kubeconfig", c.Kubeconfig, "--namespace", Namespace,
		"--redis", "127.0.0.1:"+c.port(4), "--repo-server", "127.0.0.1:"+c.port(5), "--repo-server-plaintext",
		"--address", "127.0.0.1", "--port", c.port(11), "--metrics-port", c.port(12)); err != nil {
		return "", err
	}
	return address, c.await(ctx, "argocd-server", answers(address+"/healthz"))
}

func redisServer() (string, error) {
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"} {
		if f := filepath.Join(dir, "redis-server"); isFile(f) {
			return f, nil
		}
	}
	return "", fmt.Errorf("redis-server is not installed")
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// node makes the simulated node and waits until it is ready.
func (c *Cluster) node(ctx context.Context) error {
	if err := c.Apply(ctx, "{apiVersion: v1, kind: Node, metadata: {name: "+Node+"}}"); err != nil {
		return err
	}
	return c.Apply(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: "+Namespace+"}}")
}

const installation = `
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
data: {timeout.reconciliation: 15s, timeout.reconciliation.jitter: 0s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-rbac-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cmd-params-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-gpg-keys-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
---
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
stringData: {server.secretkey: only-for-tests}
---
apiVersion: v1
kind: Secret
metadata: {name: cluster-e2e, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster}}
stringData:
  name: e2e
  server: %q
  config: '{"bearerToken":%q,"tlsClientConfig":{"insecure":true}}'
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`
