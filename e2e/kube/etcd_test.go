package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/nav-watchdog/nav-watchdog/e2e/cluster"
	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
)

type kubeDelivery = argocd.Delivery

// compact lets etcd forget all versions but the last.
func compact(ctx context.Context, c *cluster.Cluster) error {
	var now struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := etcd(ctx, c, "/v3/kv/range", `{"key":"AA=="}`, &now); err != nil {
		return err
	}
	return etcd(ctx, c, "/v3/kv/compaction", fmt.Sprintf(`{"revision":%q,"physical":true}`, now.Header.Revision), nil)
}

func etcd(ctx context.Context, c *cluster.Cluster, path, body string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Etcd()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s to %s", resp.Status, path)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}
