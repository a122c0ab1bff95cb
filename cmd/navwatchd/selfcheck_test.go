package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// TestSelfcheckCluster: which rights are missing, which are too many, and a
// clock that is wrong. The API server knows reviews only, so that nothing can be
// listed either.
func TestSelfcheckCluster(t *testing.T) {
	for _, c := range []struct {
		name  string
		verbs string // allowed
		ahead time.Duration
		want  []string
		not   []string
	}{
		{"all is well", "get list watch", 0,
			[]string{"ok    rights: get, list and watch of Applications are allowed\n", "ok    clock: the same as the API server's, to 5s\n"}, []string{"not needed"}},
		{"too little", "get", 0, []string{"FAIL  rights: not allowed on Applications: list, watch\n      hint: allow get, list and watch"}, nil},
		{"too much", "get list watch update patch", 0,
			[]string{"ok    rights", "warn  rights: also allowed on Applications, and not needed: update, patch\n      hint: take it away"}, nil},
		{"a clock that is a little late", "get list watch", -30 * time.Second, []string{"warn  clock: the API server's is ", "s behind ours\n"}, nil},
		{"a wrong clock", "get list watch", 10 * time.Minute, []string{"FAIL  clock: the API server's is ", " ahead of ours\n      hint: let a time service"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", time.Now().Add(c.ahead).UTC().Format(http.TimeFormat))
				w.Header().Set("Content-Type", "application/json")
				var review struct {
					Spec struct{ ResourceAttributes struct{ Verb string } }
				}
				if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&review) != nil {
					w.WriteHeader(http.StatusForbidden)
					_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no lists here","code":403}`)
					return
				}
				_, _ = fmt.Fprintf(w, `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","status":{"allowed":%v}}`,
					strings.Contains(" "+c.verbs+" ", " "+review.Spec.ResourceAttributes.Verb+" "))
			}))
			defer api.Close()
			dir := t.TempDir()
			kubeconfig := filepath.Join(dir, "kubeconfig")
			text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
				"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":"t"}}]}`, api.URL)
			if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			srv := navtest.Bare(t)
			srv.Put("first", navtest.Files{"a": navtest.Text("1")})
			var out bytes.Buffer
			e := env{stdout: &out, stderr: &out, environ: srv.Env(), now: time.Now}
			err := run(t.Context(), []string{"navwatchd", "selfcheck", "--repository", srv.Dir, "--mirror", filepath.Join(dir, "mirror.git"),
				"--kubeconfig", kubeconfig, "--dry-run", "--notes", "hook"}, e)
			if code := exit.Code(err); code != exit.Findings || !strings.Contains(out.String(), "FAIL  applications: ") {
				t.Errorf("%d, %v, though nothing can be listed", code, err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
			for _, not := range c.not {
				if strings.Contains(out.String(), not) {
					t.Errorf("%q in\n%s", not, out.String())
				}
			}
		})
	}
}
