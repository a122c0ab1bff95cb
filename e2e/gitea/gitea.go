// Package gitea starts a real Gitea and speaks its API.
package gitea

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/process"
)

// Admin is the first user, who makes the others. Every user's password is
// Password.
const (
	Admin    = "root-admin"
	Password = "only-For-tests-1"
)

// Server is a running Gitea.
type Server struct {
	*process.Process
	URL     string
	SSHPort int

	dir    string
	config string
}

// Start starts a Gitea from the folder of the parts, which build.sh prints, with
// its data in dir.
func Start(ctx context.Context, bin, dir string) (*Server, error) {
	static, err := filepath.EvalSymlinks(filepath.Join(filepath.Dir(bin), "gitea-static"))
	if err != nil {
		return nil, fmt.Errorf("looking for Gitea's templates: %w", err)
	}
	port, err := process.Port()
	if err != nil {
		return nil, err
	}
	s := &Server{URL: fmt.Sprintf("http://127.0.0.1:%d", port), dir: dir, config: filepath.Join(dir, "app.ini")}
	if s.SSHPort, err = process.Port(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "home"), 0o755); err != nil {
		return nil, err
	}
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.config, fmt.Appendf(nil, settings, me.Username, dir, port, s.URL, static, s.SSHPort), 0o600); err != nil {
		return nil, err
	}
	s.Process = &process.Process{
		Name: "gitea", Bin: filepath.Join(bin, "gitea"), Args: []string{"web", "-c", s.config}, Log: filepath.Join(dir, "log"),
		// Nothing of whoever runs the tests.
		Alone: true, Env: s.environment(),
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	if err := s.Await(ctx, s.healthy); err != nil {
		s.Stop()
		return nil, err
	}
	cmd := exec.CommandContext(ctx, s.Bin, "-c", s.config, "admin", "user", "create", "--admin", "--username", Admin,
		"--password", Password, "--email", Admin+"@example.com", "--must-change-password=false")
	cmd.Env = s.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Stop()
		return nil, fmt.Errorf("making the admin: %w\n%s", err, out)
	}
	return s, nil
}

func (s *Server) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"), "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C"}
}

func (s *Server) healthy(ctx context.Context) error {
	return s.API(ctx, "", "GET", "/healthz", nil, nil)
}

// Repository is the bare repository on disk.
func (s *Server) Repository(owner, name string) string {
	return filepath.Join(s.dir, "repositories", owner, name+".git")
}

// HTTP and SSH are the addresses of a repository.
func (s *Server) HTTP(owner, name string) string { return s.URL + "/" + owner + "/" + name + ".git" }

// SSH is the other address; see HTTP.
func (s *Server) SSH(owner, name string) string {
	me, _ := user.Current()
	return fmt.Sprintf("ssh://%s@127.0.0.1:%d/%s/%s.git", me.Username, s.SSHPort, owner, name)
}

// StatusError is an answer that is none of success.
type StatusError struct {
	Code int
	Text string
}

func (e *StatusError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Text) }

// API speaks the API as a user; in is sent and out read as JSON, if they are
// not nil.
func (s *Server) API(ctx context.Context, user, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	prefix := "/api/v1"
	if user == "" {
		prefix = "/api"
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL+prefix+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if user != "" {
		req.SetBasicAuth(user, Password)
	}
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking Gitea: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil {
		return fmt.Errorf("reading Gitea's answer: %w", err)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %w", method, path, &StatusError{resp.StatusCode, strings.TrimSpace(string(data))})
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

type object map[string]any

// User makes a user with a token for everything that concerns repositories.
func (s *Server) User(ctx context.Context, name string) (token string, err error) {
	err = s.API(ctx, Admin, "POST", "/admin/users", object{
		"username": name, "password": Password, "email": name + "@example.com", "must_change_password": false,
	}, nil)
	if err != nil {
		return "", err
	}
	var made struct {
		Token string `json:"sha1"`
	}
	err = s.API(ctx, name, "POST", "/users/"+name+"/tokens", object{"name": "e2e", "scopes": []string{"write:repository"}}, &made)
	return made.Token, err
}

// Key lets a user in over SSH.
func (s *Server) Key(ctx context.Context, user, public string) error {
	return s.API(ctx, user, "POST", "/user/keys", object{"title": "e2e", "key": public}, nil)
}

// Create makes an empty repository that others may write to.
func (s *Server) Create(ctx context.Context, owner, name string, writers ...string) error {
	if err := s.API(ctx, owner, "POST", "/user/repos", object{"name": name, "default_branch": "main"}, nil); err != nil {
		return err
	}
	for _, w := range writers {
		err := s.API(ctx, owner, "PUT", "/repos/"+owner+"/"+name+"/collaborators/"+url.PathEscape(w), object{"permission": "write"}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// Propose opens a pull request from a branch to main and returns its number.
// Gitea learns of a branch some time after its push, and finds nothing until then.
func (s *Server) Propose(ctx context.Context, user, owner, name, branch, title, text string) (int, error) {
	var made struct {
		Number int `json:"number"`
	}
	err := patient(ctx, http.StatusNotFound, "", func() error {
		return s.API(ctx, user, "POST", "/repos/"+owner+"/"+name+"/pulls", object{"head": branch, "base": "main", "title": title, "body": text}, &made)
	})
	return made.Number, err
}

// patient repeats what Gitea is not ready for, at most for a minute.
func patient(ctx context.Context, code int, text string, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := ask()
		var status *StatusError
		if !errors.As(err, &status) || status.Code != code || !strings.Contains(status.Text, text) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// Open is the number of the open pull request of a branch.
func (s *Server) Open(ctx context.Context, owner, name, branch string) (int, error) {
	var open struct {
		Number int `json:"number"`
	}
	err := s.API(ctx, owner, "GET", "/repos/"+owner+"/"+name+"/pulls/main/"+url.PathEscape(branch), nil, &open)
	return open.Number, err
}

// Merge merges a pull request: how is merge, squash, rebase. Gitea first has
// to find out whether it can be merged, and says so meanwhile.
func (s *Server) Merge(ctx context.Context, user, owner, name string, number int, how, title, text string) error {
	return patient(ctx, http.StatusMethodNotAllowed, "try again", func() error {
		return s.API(ctx, user, "POST", fmt.Sprintf("/repos/%s/%s/pulls/%d/merge", owner, name, number),
			object{"do": how, "merge_title_field": title, "merge_message_field": text}, nil)
	})
}

// Protect lets nobody but these push to main.
func (s *Server) Protect(ctx context.Context, owner, name string, users ...string) error {
	return s.API(ctx, owner, "POST", "/repos/"+owner+"/"+name+"/branch_protections", object{
		"rule_name": "main", "enable_push": true, "enable_push_whitelist": true, "push_whitelist_usernames": users,
	}, nil)
}

const settings = `RUN_USER = %[1]s
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = %[2]s
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]d
ROOT_URL = %[4]s/
STATIC_ROOT_PATH = %[5]s
START_SSH_SERVER = true
SSH_LISTEN_HOST = 127.0.0.1
SSH_DOMAIN = 127.0.0.1
SSH_PORT = %[6]d
BUILTIN_SSH_SERVER_USER = %[1]s
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = %[2]s/gitea.db
SQLITE_JOURNAL_MODE = WAL
[repository]
ROOT = %[2]s/repositories
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = only-for-tests
DISABLE_GIT_HOOKS = false
PASSWORD_HASH_ALGO = pbkdf2_v1
[indexer]
ISSUE_INDEXER_TYPE = db
REPO_INDEXER_ENABLED = false
[cron]
ENABLED = false
[mailer]
ENABLED = false
[actions]
ENABLED = false
[packages]
ENABLED = false
[log]
LEVEL = warn
MODE = console
`
