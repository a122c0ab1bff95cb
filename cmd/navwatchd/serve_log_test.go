package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/navtest"
)

// TestRunLogsJSON: every line is one JSON object with a time, a level and a
// message, also of an error that has several lines; a transition is one line; and
// a token in the environment is in none of them.
func TestRunLogsJSON(t *testing.T) {
	const token = "tok3n-of-a-friend"
	p := newProcess(t)
	p.env = append(p.env, "SOME_TOKEN="+token)
	p.run("--log-format", "json", "--log-level", "debug")
	id := p.srv.Put("watched\n\nNav-Watchdog: app=nowhere reach=60", navtest.Files{"a": navtest.Text("2")})
	p.srv.Put("by mistake\n\nNav-Watchdog: app=web deadline="+token, navtest.Files{"a": navtest.Text("3")})
	p.logged(`"watch moved"`, 1)
	p.logged("***", 1)
	p.must(os.Rename(p.srv.Dir, p.srv.Dir+".away"))
	p.logged(`"pass failed"`, 1)
	p.must(os.Rename(p.srv.Dir+".away", p.srv.Dir))
	p.logged(`"watch opened"`, 1)
	p.stop()
	moved := 0
	for line := range strings.Lines(p.log.String()) {
		var l struct {
			Time       time.Time
			Level, Msg string
			Commit     string
			Verdict    string
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Time.IsZero() || l.Level == "" || l.Msg == "" {
			t.Errorf("%v: %s", err, line)
		}
		if l.Msg == "watch moved" && l.Commit == id && l.Verdict == "WAITING" {
			moved++
		}
	}
	if moved != 1 {
		t.Errorf("%d lines for one transition:\n%s", moved, p.log.String())
	}
	if strings.Contains(p.log.String(), "tok3n") {
		t.Errorf("the token shows up:\n%s", p.log.String())
	}
}
