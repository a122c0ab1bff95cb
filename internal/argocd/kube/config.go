package kube

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Defaults of a Config.
const (
	DefaultMaxAge  = 5 * time.Minute
	DefaultTimeout = 15 * time.Second
)

// Config says which cluster is read, and of it what.
type Config struct {
	// Kubeconfig is a file; empty means that this process runs in the cluster
	// and uses its service account. ~/.kube/config is never taken unsaid: a
	// daemon must not judge whatever cluster somebody used last.
	Kubeconfig string
	// Context of the kubeconfig; empty is its current one.
	Context string
	// Namespaces to read; empty is all, which needs a ClusterRole.
	Namespaces []string
	// MaxAge: when the API server was not heard of for so long, List says so
	// (0: DefaultMaxAge). It sends a bookmark about once a minute.
	MaxAge time.Duration
	// Timeout of one direct read (0: DefaultTimeout).
	Timeout time.Duration
	// Now is the clock (nil: time.Now).
	Now func() time.Time
}

// New connects nothing yet; it only reads the configuration.
func New(config Config) (*Reader, error) {
	cluster, err := config.cluster()
	if err != nil {
		return nil, err
	}
	cluster.UserAgent = "nav-watchdog"
	cluster.WarningHandler = rest.NoWarnings{} // it would write to stderr
	times := &clock{now: config.Now}
	if times.now == nil {
		times.now = time.Now
	}
	cluster.Wrap(times.wrap)
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("configuring the cluster's client: %w", err)
	}
	r := &Reader{
		client:  client.Resource(applications),
		dynamic: client,
		reviews: client.Resource(accessReviews),
		clock:   times,
		maxAge:  config.MaxAge,
		timeout: config.Timeout,
		now:     times.now,
		changed: make(chan struct{}, 1),
	}
	if r.maxAge <= 0 {
		r.maxAge = DefaultMaxAge
	}
	if r.timeout <= 0 {
		r.timeout = DefaultTimeout
	}
	namespaces := slices.Compact(slices.Sorted(slices.Values(config.Namespaces)))
	if len(namespaces) == 0 || slices.Contains(namespaces, metav1.NamespaceAll) {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, namespace := range namespaces {
		v, err := newView(r, namespace)
		if err != nil {
			return nil, err
		}
		r.views = append(r.views, v)
	}
	return r, nil
}

func (c Config) cluster() (*rest.Config, error) {
	if c.Kubeconfig == "" {
		cluster, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("configuring the cluster's client: %w\nhint: outside a cluster, name a kubeconfig", err)
		}
		if err != nil {
			return nil, fmt.Errorf("configuring the cluster's client: %w", err)
		}
		return cluster, nil
	}
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: c.Context},
	).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %q: %w", c.Kubeconfig, err)
	}
	return cluster, nil
}
