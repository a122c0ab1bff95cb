package navtest

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Server is a repository behind git's own HTTP server, with a line that can
// break.
type Server struct {
	URL string // of the repository

	repo    *Repo
	mu      sync.Mutex
	fault   func(Request) Fault
	answers map[string]int // bytes of the last one of each phase
}

// Request is one exchange. Phase is "refs for upload-pack", "upload-pack",
// "refs for receive-pack" or "receive-pack".
type Request struct{ Phase string }

// Fault is what goes wrong with one exchange; the zero Fault is nothing.
type Fault struct {
	Ask    int           // the request breaks after so many bytes of its body (of upload-pack or receive-pack), from 1
	Answer int           // the answer breaks after so many bytes, from 1
	Before chan struct{} // the server begins only once it is closed
	After  chan struct{} // the server is done, and answers only once it is closed
	Done   chan struct{} // closed when the exchange is over
	Down   bool          // nobody answers
}

// Limit of what a process of the server may write to one file, in blocks of
// 512 bytes; 0 is none: a disk that is full.
type Limit int

// Serve puts the repository behind `git http-backend`. Anybody may push.
func (r *Repo) Serve(full Limit) *Server {
	r.t.Helper()
	run(r.t, r.Dir, Env(r.home), nil, []string{"config", "http.receivepack", "true"})
	shell, err := exec.LookPath("sh")
	if err != nil {
		r.t.Fatal(err)
	}
	script := "exec git http-backend"
	if full > 0 {
		script = "ulimit -f " + strconv.Itoa(int(full)) + "; trap '' XFSZ; " + script
	}
	backend := &cgi.Handler{
		Path: shell, Args: []string{"-c", script}, Dir: filepath.Dir(r.Dir), Stderr: io.Discard,
		Env: append(Env(r.home), "GIT_PROJECT_ROOT="+filepath.Dir(r.Dir), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=pusher"),
	}
	s := &Server{repo: r, answers: map[string]int{}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { s.serve(backend, w, q) }))
	r.t.Cleanup(web.Close)
	s.URL = web.URL + "/" + filepath.Base(r.Dir)
	return s
}

// Break decides for every exchange from now on what goes wrong; nil: nothing.
func (s *Server) Break(fault func(Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Answered is how many bytes the last answer of a phase had, to choose where one
// breaks.
func (s *Server) Answered(phase string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[phase]
}

func (s *Server) serve(backend http.Handler, w http.ResponseWriter, q *http.Request) {
	phase := phaseOf(q)
	s.mu.Lock()
	var f Fault
	if s.fault != nil {
		f = s.fault(Request{Phase: phase})
	}
	s.mu.Unlock()
	if f.Done != nil {
		defer close(f.Done)
	}
	if f.Down {
		hangUp(w)
		return
	}
	wait(f.Before)
	if f.Ask > 0 {
		s.half(phase, q, f.Ask)
		hangUp(w)
		return
	}
	answer := &cutWriter{ResponseWriter: w, cut: f.Answer, hold: f.After}
	backend.ServeHTTP(answer, q)
	s.mu.Lock()
	s.answers[phase] = answer.n
	s.mu.Unlock()
}

// phaseOf tells apart what git asks for at the same address: of upload-pack
// first the refs (protocol v2), of receive-pack whether there is anybody.
func phaseOf(q *http.Request) string {
	phase := strings.TrimPrefix(q.URL.Path[strings.LastIndex(q.URL.Path, "/")+1:], "git-")
	if phase == "refs" {
		return "refs for " + strings.TrimPrefix(q.URL.Query().Get("service"), "git-")
	}
	body := bufio.NewReader(q.Body)
	begin, _ := body.Peek(len("0014command=ls-refs"))
	q.Body = peeked{body, q.Body}
	switch {
	case strings.HasSuffix(string(begin), "command=ls-refs"):
		return "refs for " + phase
	case string(begin) == "0000":
		return "probe"
	}
	return phase
}

type peeked struct {
	io.Reader
	io.Closer
}

// half gives git the beginning of a request. Not by http-backend, which turns
// round and round when a request ends early (http-backend.c, pipe_fixed_length,
// of 2.39), but as that would.
func (s *Server) half(phase string, q *http.Request, n int) {
	var body io.Reader = q.Body
	if q.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return
		}
		body = z
	}
	cmd := exec.Command("git", phase, "--stateless-rpc", s.repo.Dir)
	cmd.Env, cmd.Stdin = Env(s.repo.home), io.LimitReader(body, int64(n))
	_ = cmd.Run() // it must fail; what it did is for the test to see
}

func wait(c chan struct{}) {
	if c != nil {
		<-c
	}
}

var errCut = errors.New("the line broke")

// hangUp closes the connection, whatever was said so far.
func hangUp(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

// cutWriter hands over so many bytes and then breaks.
type cutWriter struct {
	http.ResponseWriter
	n, cut int
	hold   chan struct{}
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if c.hold != nil { // the server goes on; nobody hears it
		<-c.hold
	}
	if c.cut > 0 && c.n+len(p) >= c.cut {
		p = p[:max(c.cut-1-c.n, 0)]
		n, _ := c.ResponseWriter.Write(p)
		c.n += n
		if f, ok := c.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		hangUp(c.ResponseWriter)
		return n, errCut
	}
	n, err := c.ResponseWriter.Write(p)
	c.n += n
	return n, err
}
