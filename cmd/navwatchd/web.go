package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// web serves /metrics, /healthz and /readyz.
type web struct {
	srv  *http.Server
	addr net.Addr
}

// handler answers with what m knows. The settings are asked at each request: they
// may change.
func handler(m *metrics, now func() time.Time, set func() *probed) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	answer := func(why func() string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			text := "ok"
			if bad := why(); bad != "" {
				w.WriteHeader(http.StatusServiceUnavailable)
				text = exit.Printable(set().clean.text(bad))
			}
			_, _ = io.WriteString(w, text+"\n") // who asked may be gone
		}
	}
	mux.Handle("GET /healthz", answer(func() string { return m.health(now(), 2*longestGit+set().interval) }))
	mux.Handle("GET /readyz", answer(func() string { return m.ready(now(), time.Minute+3*set().interval) }))
	return mux
}

// listen starts to serve; what fails later is told.
func listen(ctx context.Context, address string, h http.Handler, failed func(error)) (*web, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serving metrics and health: %w", err)
	}
	w := &web{addr: l.Addr(), srv: &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10,
	}}
	go func() {
		if err := w.srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	}()
	return w, nil
}

// close ends at once: scrapes and probes come again.
func (w *web) close() {
	if w != nil {
		_ = w.srv.Close() // what fails in closing is closed all the same
	}
}
