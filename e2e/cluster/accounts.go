package cluster

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// secretKey is what Argo CD signs tokens with (installation).
const secretKey = "only-for-tests"

// ArgoServerWithAccounts is ArgoServer as it is run where people log in: over
// TLS, and only for who has a token. The first account may read everything, the
// others nothing. It gives a token an account, and the server's certificate.
func (c *Cluster) ArgoServerWithAccounts(ctx context.Context, accounts ...string) (address string, tokens map[string]string, certificate []byte, err error) {
	tokens = map[string]string{}
	config, secret := map[string]string{}, map[string]string{}
	for _, a := range accounts {
		at := time.Now().Add(-time.Minute).Unix()
		config["accounts."+a] = "apiKey"
		secret["accounts."+a+".tokens"] = fmt.Sprintf(`[{"id":%q,"iat":%d}]`, a, at)
		if tokens[a], err = accountToken(a, at); err != nil {
			return "", nil, nil, err
		}
	}
	rbac := ""
	for _, kind := range []string{"applications", "applicationsets", "projects"} {
		rbac += fmt.Sprintf("p, %s, %s, get, *, allow\n", accounts[0], kind)
	}
	if err := c.merge(ctx, config, map[string]string{"policy.csv": rbac}, secret); err != nil {
		return "", nil, nil, err
	}
	address = "https://localhost:" + c.port(11)
	if err := c.add("argocd-server", "argocd-server", "--kubeconfig", c.Kubeconfig, "--namespace", Namespace,
		"--redis", "127.0.0.1:"+c.port(4), "--repo-server", "127.0.0.1:"+c.port(5), "--repo-server-plaintext",
		"--address", "127.0.0.1", "--port", c.port(11), "--metrics-port", c.port(12)); err != nil {
		return "", nil, nil, err
	}
	err = c.await(ctx, "argocd-server", func(context.Context) error {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 2 * time.Second}, "tcp", "127.0.0.1:"+c.port(11), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it is asked for its certificate
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // nothing was written
		certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: conn.ConnectionState().PeerCertificates[0].Raw})
		return nil
	})
	return address, tokens, certificate, err
}

func (c *Cluster) merge(ctx context.Context, config, rbac, secret map[string]string) error {
	for name, data := range map[string]map[string]string{"argocd-cm": config, "argocd-rbac-cm": rbac} {
		patch, err := json.Marshal(map[string]any{"data": data})
		if err != nil {
			return err
		}
		if _, err := c.Kube.CoreV1().ConfigMaps(Namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	patch, err := json.Marshal(map[string]any{"stringData": secret})
	if err != nil {
		return err
	}
	_, err = c.Kube.CoreV1().Secrets(Namespace).Patch(ctx, "argocd-secret", types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// accountToken signs what `argocd account generate-token` would.
func accountToken(account string, at int64) (string, error) {
	claims, err := json.Marshal(map[string]any{"iss": "argocd", "sub": account + ":apiKey", "jti": account, "iat": at, "nbf": at})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(claims)
	mac := hmac.New(sha256.New, []byte(secretKey))
	mac.Write([]byte(text))
	return strings.Join([]string{text, encode(mac.Sum(nil))}, "."), nil
}
