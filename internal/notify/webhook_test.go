package notify_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/notify"
)

const token = "t0psecret"

// outcome is what a webhook said of each notice.
type outcome struct {
	mu   sync.Mutex
	ids  []string
	errs []error
}

func (o *outcome) done(n notify.Notice, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ids, o.errs = append(o.ids, n.ID), append(o.errs, err)
}

// one is the error of the only notice.
func (o *outcome) one(t *testing.T) error {
	t.Helper()
	if len(o.errs) != 1 {
		t.Fatalf("told of %d notices: %q, %v", len(o.ids), o.ids, o.errs)
	}
	if err := o.errs[0]; err != nil && strings.Contains(err.Error(), token) {
		t.Errorf("the error holds the token: %v", err)
	}
	return o.errs[0]
}

// piped serves over net.Pipe, which a synctest bubble understands: time goes on
// only when everything waits.
func piped(t *testing.T, handler http.Handler) http.RoundTripper {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: handler}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// hang answers nothing until the client gives up, which the server notices only
// once it has read the body.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func sample(id string) notify.Notice {
	return notify.Notice{
		ID: id, Kind: "not-recovered", At: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC), Repository: "https://git.example.com/x.git",
		Watcher: "navwatchd v1", Text: "look", Commit: "c0", App: "web", Verdict: "REVERTED", Recovery: "NOT_RECOVERED",
	}
}

// TestSigned: what arrives is the documented JSON, and its signature is the
// HMAC of exactly these bytes.
func TestSigned(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer srv.Close()
	var o outcome
	w, err := notify.New(notify.Config{URL: srv.URL + "/hook/" + token, Secret: []byte("key"), UserAgent: "nav-watchdog/v1", Done: o.done})
	if err != nil {
		t.Fatal(err)
	}
	w.Notify(sample("id1"))
	w.Close(t.Context())
	if err := o.one(t); err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write(body)
	for header, want := range map[string]string{
		"Nav-Watchdog-Signature": "sha256=" + hex.EncodeToString(mac.Sum(nil)), "Nav-Watchdog-Id": "id1",
		"Content-Type": "application/json", "User-Agent": "nav-watchdog/v1",
	} {
		if got.Header.Get(header) != want {
			t.Errorf("%s: %q, want %q", header, got.Header.Get(header), want)
		}
	}
	want := `{"v":1,"id":"id1","kind":"not-recovered","at":"2026-03-01T12:00:00Z","repository":"https://git.example.com/x.git",` +
		`"watcher":"navwatchd v1","text":"look","commit":"c0","app":"web","verdict":"REVERTED","recovery":"NOT_RECOVERED"}`
	if got.Method != http.MethodPost || string(body) != want {
		t.Errorf("%s %s\nwant %s", got.Method, body, want)
	}
}

// TestUnsigned: without a secret there is no signature, rather than one with an
// empty key, which everybody can make.
func TestUnsigned(t *testing.T) {
	headers := make(chan http.Header, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { headers <- r.Header }))
	defer srv.Close()
	w, err := notify.New(notify.Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	w.Notify(sample("id1"))
	w.Close(t.Context())
	if h := <-headers; h.Values(notify.SignatureHeader) != nil {
		t.Errorf("signed with %q", h.Get(notify.SignatureHeader))
	}
}

// TestBounded: a huge text is cut, and what is no UTF-8 does no harm.
func TestBounded(t *testing.T) {
	bodies := make(chan []byte, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies <- b
	}))
	defer srv.Close()
	w, err := notify.New(notify.Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	n := sample("id1")
	n.Text, n.Reason = strings.Repeat("ü", 1<<20), "a\xffb"
	w.Notify(n)
	w.Close(t.Context())
	var got notify.Notice
	if err := json.Unmarshal(<-bodies, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Text) > 2100 || !strings.HasSuffix(got.Text, "ü...") || got.Reason != "a\uFFFDb" {
		t.Errorf("text of %d bytes, reason %q", len(got.Text), got.Reason)
	}
}

// TestAnswers: which answers are tried again, and how often at most.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name     string
		answers  []int // the last for ever
		want     string
		requests int
	}{
		{"taken", []int{204}, "", 1},
		{"busy, then taken", []int{503, 429, 500, 200}, "", 4},
		{"broken", []int{500}, "giving up after 6 attempts: it answered 500 Internal Server Error", 6},
		{"refused", []int{403}, "it answered 403 Forbidden", 1},
		{"gone", []int{404}, "it answered 404 Not Found", 1},
		{"unmoved", []int{304}, "it answered 304, a redirect that is not followed", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				base := piped(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					w.WriteHeader(c.answers[min(requests, len(c.answers)-1)])
					requests++
				}))
				var o outcome
				w, err := notify.New(notify.Config{URL: "http://hooks.example.com/" + token, Done: o.done, Transport: base})
				if err != nil {
					t.Fatal(err)
				}
				w.Notify(sample("id1"))
				w.Close(t.Context())
				got := ""
				if err := o.one(t); err != nil {
					got = err.Error()
				}
				if got != c.want || requests != c.requests {
					t.Errorf("%q after %d requests, want %q after %d", got, requests, c.want, c.requests)
				}
			})
		})
	}
}

// TestPatience: a server that asks to be left alone for a day is asked again
// after half a minute, and one that never answers costs the notice, not more.
func TestPatience(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"asks for a day": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
		"never answers": hang,
		"answers byte by byte": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusInternalServerError)
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("."))
				_ = http.NewResponseController(w).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var o outcome
				w, err := notify.New(notify.Config{URL: "http://hooks.example.com/" + token, Done: o.done, Transport: piped(t, handler)})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				w.Notify(sample("id1"))
				if took := time.Since(start); took != 0 {
					t.Errorf("Notify waited %s", took)
				}
				w.Close(t.Context())
				if o.one(t) == nil {
					t.Error("no error")
				}
				if took := time.Since(start); took < 30*time.Second || took > 3*time.Minute+time.Second {
					t.Errorf("given up after %s", took)
				}
			})
		})
	}
}

// TestQueue: while a server hangs, Notify does not, and what is too much is
// dropped and told.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcome
		w, err := notify.New(notify.Config{URL: "http://hooks.example.com/", Queue: 2, Done: o.done,
			Transport: piped(t, http.HandlerFunc(hang))})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		w.Notify(sample("1"))
		synctest.Wait() // the first is under way
		for _, id := range []string{"2", "3", "4"} {
			w.Notify(sample(id))
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("Notify waited %s", took)
		}
		if len(o.ids) != 1 || o.ids[0] != "4" || !errors.Is(o.errs[0], notify.ErrFull) {
			t.Errorf("dropped: %q, %v", o.ids, o.errs)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		w.Close(ctx)
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Close took %s, want the 5s of its context", took)
		}
		if len(o.ids) != 4 {
			t.Errorf("told of %q only", o.ids)
		}
		w.Notify(sample("5"))
		if n := len(o.ids); n != 5 || !errors.Is(o.errs[n-1], notify.ErrClosed) {
			t.Errorf("after Close: %q, %v", o.ids, o.errs)
		}
	})
}

// TestRedirects: a notice goes to the host that the operator named and to no
// other, and never as a GET.
func TestRedirects(t *testing.T) {
	for _, c := range []struct {
		name, to string
		code     int
		arrives  bool
	}{
		{"same host, 307", "/there", http.StatusTemporaryRedirect, true},
		{"same host, 308", "/there", http.StatusPermanentRedirect, true},
		{"same host, 302 makes a GET", "/there", http.StatusFound, false},
		{"other host", "http://evil.example.net/there", http.StatusTemporaryRedirect, false},
		{"other port", "http://hooks.example.com:81/there", http.StatusTemporaryRedirect, false},
		{"other scheme", "https://hooks.example.com/there", http.StatusTemporaryRedirect, false},
		{"for ever", "/here", http.StatusTemporaryRedirect, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				arrived := ""
				base := piped(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/here" {
						w.Header().Set("Location", c.to)
						w.WriteHeader(c.code)
						return
					}
					b, _ := io.ReadAll(r.Body)
					arrived = r.Method + " " + r.Host + " " + string(b[:min(len(b), 6)])
				}))
				var o outcome
				w, err := notify.New(notify.Config{URL: "http://hooks.example.com/here", Done: o.done, Transport: base})
				if err != nil {
					t.Fatal(err)
				}
				w.Notify(sample("id1"))
				w.Close(t.Context())
				switch err := o.one(t); {
				case c.arrives && (err != nil || arrived != `POST hooks.example.com {"v":1`):
					t.Errorf("%v, arrived %q", err, arrived)
				case !c.arrives && (err == nil || arrived != ""):
					t.Errorf("%v, arrived %q", err, arrived)
				}
			})
		})
	}
}

// TestAway: the network's own error names no address.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o outcome
		w, err := notify.New(notify.Config{URL: "http://user:" + token + "@hooks.example.com/" + token, Done: o.done,
			Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }}})
		if err != nil {
			t.Fatal(err)
		}
		w.Notify(sample("id1"))
		w.Close(t.Context())
		if err := o.one(t); err == nil || !strings.Contains(err.Error(), "after 6 attempts: no route") {
			t.Errorf("%v", err)
		}
	})
}

func TestAddress(t *testing.T) {
	for _, bad := range []string{"", "hooks.example.com/" + token, "ftp://h/" + token, "https:///" + token, "http://[::1/" + token, "file:///etc/" + token} {
		if _, err := notify.New(notify.Config{URL: bad}); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("webhook %q: %v", bad, err)
		}
		if _, err := notify.NewPinger(bad, "", nil, nil); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("dead man's switch %q: %v", bad, err)
		}
	}
}
