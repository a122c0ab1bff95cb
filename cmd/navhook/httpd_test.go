package main

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// httpd DIR serves the repositories below DIR with git's own http-backend. Who
// gives a password, any one, is the user; nobody need. The variable URL is the
// address without the scheme.
func httpd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: httpd DIR")
	}
	core, err := exec.Command("git", "--exec-path").Output()
	ts.Check(err)
	var env []string
	for _, name := range []string{"PATH", "HOME", "NAV_TEST_NOW", "GORACE"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	for _, kv := range navtest.Env(ts.Getenv("HOME")) {
		if strings.HasPrefix(kv, "GIT_") {
			env = append(env, kv)
		}
	}
	env = append(env, "PUSHER=www-data", "GIT_PROJECT_ROOT="+ts.MkAbs(args[0]), "GIT_HTTP_EXPORT_ALL=1")
	backend := filepath.Join(strings.TrimSpace(string(core)), "git-http-backend")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := env[:len(env):len(env)]
		user, _, known := r.BasicAuth()
		switch {
		case known:
			own = append(own, "REMOTE_USER="+user, "AUTH_TYPE=Basic")
		case strings.HasPrefix(r.URL.Path, "/private/"):
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		(&cgi.Handler{Path: backend, Env: own}).ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("URL", strings.TrimPrefix(server.URL, "http://"))
}
