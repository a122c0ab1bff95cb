// Package plain starts Git servers without a forge: git http-backend behind a
// web server that asks for a password, and Debian's SSH server.
package plain

import (
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Web serves the repositories of a folder with git http-backend.
type Web struct {
	URL    string
	server *http.Server
	busy   atomic.Int64
}

// Busy is how many requests are being answered.
func (w *Web) Busy() int { return int(w.busy.Load()) }

// NewWeb starts it. Passwords are those of the users, limit is how long one
// request may take (docs/hosts.md).
func NewWeb(dir string, limit time.Duration, passwords map[string]string) (*Web, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, fmt.Errorf("looking for git http-backend: %w", err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	script := filepath.Join(dir, "http-backend")
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nexec timeout %ds %s\n", int(limit/time.Second), backend), 0o755); err != nil {
		return nil, err
	}
	web := &Web{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		web.busy.Add(1)
		defer web.busy.Add(-1)
		user, password, ok := req.BasicAuth()
		want, known := passwords[user]
		if !ok || !known || subtle.ConstantTimeCompare([]byte(password), []byte(want)) != 1 {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		git := cgi.Handler{
			Path: script, Dir: dir,
			Env: []string{
				"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user,
				"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			},
		}
		git.ServeHTTP(w, req)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	web.URL, web.server = "http://"+listener.Addr().String(), &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.server.Serve(listener) }()
	return web, nil
}

// Close ends it.
func (w *Web) Close() { _ = w.server.Close() }
