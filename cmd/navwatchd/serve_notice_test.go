package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/notify"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// receiver is a webhook that takes notices, or refuses them.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	takes bool
	asked int
	got   []notify.Notice
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var n notify.Notice
		err := json.NewDecoder(q.Body).Decode(&n)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.asked++
		if err != nil || !r.takes {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.got = append(r.got, n)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.takes = true
}

func (r *receiver) received() (asked int, got []notify.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked, append([]notify.Notice(nil), r.got...)
}

// TestRunNoticeAfterKill: a notice that the webhook refused, of a process that was
// killed then, is sent by the next one, and by no later one.
func TestRunNoticeAfterKill(t *testing.T) {
	p, hook := newProcess(t), newReceiver(t)
	p.run("--webhook", hook.URL)
	tree := strings.TrimSpace(p.srv.Git("hash-object", "-w", "-t", "tree", "/dev/null"))
	line := verdict.PeopleLine{Kind: verdict.PeopleFreeze, By: "mallory", Reason: "the tags are wrong", At: time.Now()}.Line()
	p.srv.Git("notes", "--ref=nav/people", "append", "-m", line, tree)
	p.logged("notice not delivered", 1)
	p.says(`"kind": "frozen"`, true)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.done
	hook.take()
	p.run("--webhook", hook.URL)
	p.logged("notice sent", 1)
	p.says(`"notices"`, false)
	p.stop()
	p.run("--webhook", hook.URL)
	p.logged("first pass done", 3)
	p.stop()
	asked, got := hook.received()
	if asked != 2 || len(got) != 1 || got[0].Kind != "frozen" || got[0].Text != "all reverts are frozen by mallory: the tags are wrong" || got[0].ID == "" {
		t.Errorf("asked %d times, got %+v\n%s", asked, got, p.log.String())
	}
}
