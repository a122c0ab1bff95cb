package api_test

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/api"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// scripted answers each request to Applications as the next word says, the last
// word for ever; other lists are empty.
type scripted struct {
	words []string
	asked atomic.Int32
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if !strings.HasSuffix(r.URL.Path, "/applications") {
		_, _ = w.WriteString(`{"items":null}`)
		return w.Result(), nil
	}
	n := int(s.asked.Add(1))
	switch word := s.words[min(n, len(s.words))-1]; word {
	case "cut":
		return nil, errors.New("connection reset by peer")
	case "busy":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "slowly":
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	case "who":
		w.WriteHeader(http.StatusUnauthorized)
	case "no":
		w.WriteHeader(http.StatusForbidden)
	default:
		_, _ = w.WriteString(word)
	}
	return w.Result(), nil
}

// A server that is away for a moment is asked again, at most three times and
// after a pause; what will not get better is not.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		words []string
		asked int32
		least time.Duration
		err   string
	}{
		{"a restart", []string{"cut", "busy", apps}, 3, 3 * time.Second, ""},
		{"told to wait", []string{"slowly", apps}, 2, 7 * time.Second, ""},
		{"away for long", []string{"busy"}, 4, 7 * time.Second, "it answered 503"},
		{"no connection", []string{"cut"}, 4, 7 * time.Second, "connection reset by peer"},
		{"a token that is none", []string{"who"}, 1, 0, "hint: the token in ARGOCD_AUTH_TOKEN is not valid there"},
		{"a token without rights", []string{"no"}, 1, 0, "hint: let the token's role get applications"},
		{"half an answer", []string{apps[:60]}, 1, 0, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{words: c.words}
				client, err := api.New("https://argocd.example.com", token)
				if err != nil {
					t.Fatal(err)
				}
				client.Through(s)
				start := time.Now()
				p, err := client.Place(context.Background(), start)
				switch {
				case c.err == "" && (err != nil || len(p.Find(verdict.App{Name: "web"})) != 1):
					t.Errorf("%+v, %v", p, err)
				case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), token)):
					t.Errorf("%v, want %q", err, c.err)
				}
				if took := time.Since(start); s.asked.Load() != c.asked || took < c.least || took > time.Minute {
					t.Errorf("asked %d times within %s", s.asked.Load(), took)
				}
			})
		})
	}
}

// Nobody waits for a server after being told to stop.
func TestCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, err := api.New("https://argocd.example.com", token)
		if err != nil {
			t.Fatal(err)
		}
		client.Through(&scripted{words: []string{"busy"}})
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		start := time.Now()
		if _, err := client.Place(ctx, start); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// The token goes to no server whose certificate nobody vouches for.
func TestTLS(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"items":null}`))
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	client, err := api.New(s.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Place(context.Background(), time.Time{})
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "hint: ") || asked.Load() > 0 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	client.Through(s.Client().Transport) // which knows the certificate
	if p, err := client.Place(context.Background(), time.Time{}); err != nil || asked.Load() != 3 || !p.Whole.Projects {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}
