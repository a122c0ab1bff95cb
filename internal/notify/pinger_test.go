package notify_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/notify"
)

// TestPinger: one call each time; while one hangs nobody waits, and of all that
// were asked for meanwhile one is made.
func TestPinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []time.Duration
		start := time.Now()
		code := 200
		base := piped(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls = append(calls, time.Since(start))
			if code == 0 {
				<-r.Context().Done()
				return
			}
			w.WriteHeader(code)
		}))
		var told []string
		p, err := notify.NewPinger("http://ping.example.com/"+token, "nav-watchdog/v1", func(err error) {
			if err == nil {
				told = append(told, "well")
			} else {
				told = append(told, err.Error())
			}
		}, base)
		if err != nil {
			t.Fatal(err)
		}
		ping := func(answer int) {
			code = answer
			p.Ping()
			synctest.Wait()
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		ping(200)
		ping(500)
		ping(200)
		ping(200)
		code = 0
		began := time.Since(start)
		for range 5 {
			p.Ping()
			synctest.Wait()
		}
		if took := time.Since(start) - began; took != 0 {
			t.Errorf("Ping waited %s", took)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		p.Close()
		want := []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 4*time.Minute + 10*time.Second}
		if !slices.Equal(calls, want) {
			t.Errorf("called at %v, want %v", calls, want)
		}
		if len(told) != 4 || told[0] != "it answered 500 Internal Server Error" || told[1] != "well" || strings.Contains(strings.Join(told, " "), token) {
			t.Errorf("told %q", told)
		}
	})
}
