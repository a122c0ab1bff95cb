// Package api reads Applications, and the objects around them, from the API of
// an Argo CD server: for whoever has a token of it and no access to the cluster,
// such as a lint in CI. It only reads (applications, projects and
// applicationsets, get).
//
// ImageUpdater resources and argocd-cm are not to be had there; what they would
// say is not known.
package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd"
	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// Limits.
const (
	MaxAnswer = 256 << 20 // bytes of one answer
	timeout   = 30 * time.Second
	retries   = 3
)

// Client reads from one server.
type Client struct {
	base  *url.URL
	token string
	http  *retryablehttp.Client
}

// New connects nothing yet. The token is only ever sent over https, or to this
// machine itself (a port-forward).
func New(server, token string) (*Client, error) {
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("reading the address of Argo CD: it is no URL such as https://argocd.example.com")
	}
	if base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, errors.New("reading the address of Argo CD: a token is not sent over http, but for a port-forward on this machine")
	}
	if token == "" || strings.ContainsAny(token, "\r\n") {
		return nil, errors.New("reading from Argo CD: there is no token\nhint: set ARGOCD_AUTH_TOKEN to one that may get applications, projects and applicationsets")
	}
	c := retryablehttp.NewClient()
	c.Logger = nil // it would log addresses
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = retries, time.Second, 10*time.Second
	c.HTTPClient.Timeout = timeout
	c.HTTPClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a token goes nowhere else
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return &Client{base: base, token: token, http: c}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// statusError is an answer that is not 200.
type statusError struct{ code int }

func (e *statusError) Error() string {
	text := fmt.Sprintf("it answered %d %s", e.code, http.StatusText(e.code))
	switch e.code {
	case http.StatusUnauthorized:
		text += "\nhint: the token in ARGOCD_AUTH_TOKEN is not valid there"
	case http.StatusForbidden:
		text += "\nhint: let the token's role get applications, projects and applicationsets"
	}
	return text
}

// trusted says what to do about a certificate that nobody vouches for.
func trusted(err error) error {
	var bad *tls.CertificateVerificationError
	if errors.As(err, &bad) {
		return fmt.Errorf("%w\nhint: name the file of the authority's certificate in SSL_CERT_FILE; the token goes to nobody else", err)
	}
	return err
}

// Place reads what Argo CD shows to the token. Projects or ApplicationSets that
// it may not see are not known; Applications must be readable. at is the moment.
func (c *Client) Place(ctx context.Context, at time.Time) (arming.Place, error) {
	p := arming.Place{From: "live", At: at}
	if err := c.list(ctx, &p, "applications", argocd.KindApplication); err != nil {
		return p, err
	}
	for _, kind := range []struct {
		path, kind string
		whole      *bool
	}{
		{"projects", argocd.KindAppProject, &p.Whole.Projects},
		{"applicationsets", argocd.KindApplicationSet, &p.Whole.Sets},
	} {
		err := c.list(ctx, &p, kind.path, kind.kind)
		var status *statusError
		if err != nil && (!errors.As(err, &status) || status.code != http.StatusForbidden && status.code != http.StatusNotFound) {
			return p, err
		}
		*kind.whole = err == nil
	}
	return p, nil
}

func (c *Client) list(ctx context.Context, p *arming.Place, path, kind string) error {
	if err := c.read(ctx, p, path, kind); err != nil {
		return fmt.Errorf("reading %s from %s: %w", path, c.base.Host, err)
	}
	return nil
}

func (c *Client) read(ctx context.Context, p *arming.Place, path, kind string) error {
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, c.base.JoinPath("api", "v1", path).String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return trusted(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	if resp.StatusCode != http.StatusOK {
		return &statusError{resp.StatusCode}
	}
	return items(io.LimitReader(resp.Body, MaxAnswer), func(fields map[string]any) error {
		// The items of a list say neither.
		fields["apiVersion"], fields["kind"] = "argoproj.io/v1alpha1", kind
		return argocd.Add(p, fields, true)
	})
}

// items hands over the objects of a list, one at a time. An answer that ends too
// early is an error: an Application that is missing would look unknown.
func items(r io.Reader, fn func(map[string]any) error) error {
	d := json.NewDecoder(r)
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return fmt.Errorf("reading the answer: %w", noEOF(err))
		}
		switch token {
		case json.Delim('{'):
			depth++
		case json.Delim('}'):
			if depth--; depth == 0 {
				return nil
			}
		case "items":
			if depth != 1 {
				continue
			}
			if err := list(d, fn); err != nil {
				return err
			}
		default:
			if depth == 0 {
				return errors.New("reading the answer: it is no list of objects")
			}
		}
	}
}

func list(d *json.Decoder, fn func(map[string]any) error) error {
	token, err := d.Token()
	if err != nil {
		return fmt.Errorf("reading the answer: %w", noEOF(err))
	}
	if token == nil { // items: null
		return nil
	}
	if token != json.Delim('[') {
		return errors.New("reading the answer: its items are no list")
	}
	for d.More() {
		var fields map[string]any
		if err := d.Decode(&fields); err != nil {
			return fmt.Errorf("reading the answer: %w", noEOF(err))
		}
		if fields == nil {
			return errors.New("reading the answer: an item is null")
		}
		if err := fn(fields); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return noEOF(err)
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
