package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// argocd DIR answers as Argo CD's API does with the files of a folder, NOW in them
// being the moment, and sets ARGOCD to its address and the token that it takes.
func argocd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: argocd DIR")
	}
	const token = "secret-token"
	dir := ts.MkAbs(args[0])
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer, err := os.ReadFile(filepath.Join(dir, path.Base(r.URL.Path)+".json"))
		if err != nil {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write(bytes.ReplaceAll(answer, []byte("NOW"), []byte(time.Now().UTC().Format(time.RFC3339))))
	}))
	ts.Defer(s.Close)
	ts.Setenv("ARGOCD", s.URL)
	ts.Setenv("ARGOCD_AUTH_TOKEN", token)
}
