// Package cluster starts a real Kubernetes control plane with simulated nodes
// and a real Argo CD from the binaries that build.sh made.
package cluster

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/nav-watchdog/nav-watchdog/e2e/process"
)

// Options says where things are.
type Options struct {
	Bin  string // folder of the binaries; the CRDs lie in crds/ beside it
	Dir  string // data, logs, kubeconfig; made anew
	Base int    // first of some twenty TCP ports on 127.0.0.1
	// ControllerArgs are further flags of the application controller.
	ControllerArgs []string
	// NoArgo leaves out Argo CD (its CRDs are there) and the simulated nodes.
	NoArgo bool
	// APIServerArgs are further flags of the API server.
	APIServerArgs []string
}

// Cluster is a running cluster.
type Cluster struct {
	Server     string // as Applications name it
	Kubeconfig string
	Kube       kubernetes.Interface
	Dynamic    dynamic.Interface

	o      Options
	env    []string
	mapper *restmapper.DeferredDiscoveryRESTMapper
	parts  map[string]*process.Process
	order  []string
}

// Node is the simulated node that manifests name, as there is no scheduler.
const Node = "kwok-node-0"

// Namespace is Argo CD's own.
const Namespace = "argocd"

// Users of the cluster, beside its admin: nobody gave them any right.
const (
	Reader  = "reader"
	Nobody  = "nobody"
	Members = "members" // the group of both
)

const token = "admintoken" // of a cluster that only this machine reaches

func tokenOf(user string) string { return user + "token" }

//go:embed stages.yaml
var stages []byte

// Start brings everything up. A cluster that could not be started whole is
// stopped again.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{o: o, parts: map[string]*process.Process{}, Server: fmt.Sprintf("https://127.0.0.1:%d", o.Base+2)}
	steps := []func(context.Context) error{c.files, c.controlPlane, c.connect, c.node, c.crds}
	if !o.NoArgo {
		steps = append(steps, c.nodes, c.argo)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// Stop ends all parts, the last started first.
func (c *Cluster) Stop() {
	for i := len(c.order) - 1; i >= 0; i-- {
		c.parts[c.order[i]].Stop()
	}
}

// StopPart and StartPart take one part away and bring it back.
func (c *Cluster) StopPart(name string) { c.parts[name].Stop() }

// StartPart is the counterpart of StopPart.
func (c *Cluster) StartPart(name string) error { return c.parts[name].Start() }

func (c *Cluster) port(n int) string { return fmt.Sprint(c.o.Base + n) }

func (c *Cluster) path(name string) string { return filepath.Join(c.o.Dir, name) }

// files writes what the parts read.
func (c *Cluster) files(context.Context) error {
	if err := os.RemoveAll(c.o.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(c.path("home"), 0o700); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	c.Kubeconfig = c.path("kubeconfig")
	c.env = []string{"HOME=" + c.path("home"), "KUBECONFIG=" + c.Kubeconfig}
	for name, data := range map[string][]byte{
		"sa.key": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"tokens.csv": []byte(token + ",admin,admin,system:masters\n" +
			tokenOf(Reader) + "," + Reader + "," + Reader + "," + Members + "\n" + tokenOf(Nobody) + "," + Nobody + "," + Nobody + "," + Members + "\n"),
		"stages.yaml": stages,
		"kubeconfig":  kubeconfig(c.Server, "admin", token),
	} {
		if err := os.WriteFile(c.path(name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func kubeconfig(server, user, token string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: e2e, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: %[2]s, user: {token: %[3]s}}]
contexts: [{name: e2e, context: {cluster: e2e, user: %[2]s}}]
current-context: e2e
`, server, user, token)
}

// KubeconfigOf writes a kubeconfig of Reader or Nobody, and returns its name.
// An empty server is the cluster's own.
func (c *Cluster) KubeconfigOf(user, server string) (string, error) {
	if server == "" {
		server = c.Server
	}
	file := c.path("kubeconfig-" + user)
	return file, os.WriteFile(file, kubeconfig(server, user, tokenOf(user)), 0o600)
}

// Etcd is the address of etcd's HTTP API.
func (c *Cluster) Etcd() string { return "http://127.0.0.1:" + c.port(0) }

// Await waits until the API server answers again.
func (c *Cluster) Await(ctx context.Context) error { return c.await(ctx, APIServer, c.ready) }

func (c *Cluster) ready(ctx context.Context) error {
	return c.Kube.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func (c *Cluster) controlPlane(ctx context.Context) error {
	etcd := "http://127.0.0.1:" + c.port(0)
	peers := "http://127.0.0.1:" + c.port(1)
	if err := c.add("etcd", "etcd", "--data-dir", c.path("etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers, "--unsafe-no-fsync"); err != nil {
		return err
	}
	if err := c.await(ctx, "etcd", answers(etcd+"/health")); err != nil {
		return err
	}
	return c.add(APIServer, "kube-apiserver", append([]string{"--etcd-servers=" + etcd,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + c.path("sa.key"), "--service-account-key-file=" + c.path("sa.key"),
		"--authorization-mode=RBAC", "--token-auth-file=" + c.path("tokens.csv"), "--cert-dir=" + c.path("certs"),
		"--secure-port=" + c.port(2), "--bind-address=127.0.0.1", "--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount"}, c.o.APIServerArgs...)...)
}

// connect waits for the API server and starts what needs it.
func (c *Cluster) connect(ctx context.Context) error {
	cfg := &rest.Config{Host: c.Server, BearerToken: token, QPS: 100, Burst: 200, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	var err error
	if c.Kube, err = kubernetes.NewForConfig(cfg); err != nil {
		return err
	}
	if c.Dynamic, err = dynamic.NewForConfig(cfg); err != nil {
		return err
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Kube.Discovery()))
	return c.Await(ctx)
}

// nodes starts the controllers of Kubernetes and the simulated nodes.
func (c *Cluster) nodes(context.Context) error {
	if err := c.add("kube-controller-manager", "kube-controller-manager", "--kubeconfig="+c.Kubeconfig, "--leader-elect=false",
		"--secure-port="+c.port(3), "--bind-address=127.0.0.1", "--cert-dir="+c.path("certs-kcm"),
		"--controllers=deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller,cronjob-controller,"+
			"namespace-controller,garbage-collector-controller,endpointslice-controller"); err != nil {
		return err
	}
	return c.add("kwok", "kwok", "--kubeconfig="+c.Kubeconfig, "--manage-all-nodes=true", "--config="+c.path("stages.yaml"))
}

// answers waits for any good answer of an HTTP address.
func answers(url string) func(context.Context) error {
	client := &http.Client{Timeout: 2 * time.Second}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, resp.Status)
		}
		return nil
	}
}
