package lint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each host's default template, as its documentation or source has it: what a
// request with these commits becomes.
func TestSquashTemplates(t *testing.T) {
	t.Parallel()
	const (
		first  = "web: one\n\nWhy.\n\nNav-Watchdog: app=web\n"
		second = "web: two\n"
		rule   = "\n---------\n\nCo-authored-by: Somebody Else <somebody@example.com>\n"
	)
	request := []byte("A title\r\n\r\nWhat it does.\r\n\r\nNav-Watchdog: app=api\r\n")
	const described = "A title (#1)\n\nWhat it does.\n\nNav-Watchdog: app=api\n"
	for _, c := range []struct {
		name, host string
		text       []byte
		commits    []string
		want       []string
	}{
		{"one commit", HostGitHub, request, []string{first}, []string{
			"web: one (#1)\n\nWhy.\n\nNav-Watchdog: app=web\n", "web: one (#1)\n\nWhy.\n\nNav-Watchdog: app=web\n" + rule}},
		{"two commits", HostGitHub, request, []string{first, second}, []string{
			"A title (#1)\n\n* web: one\n\nWhy.\n\nNav-Watchdog: app=web\n\n* web: two\n", "A title (#1)\n\n* web: one\n\nWhy.\n\nNav-Watchdog: app=web\n\n* web: two\n" + rule}},
		{"one commit", HostGitLab, request, []string{first}, []string{"A title\n"}},
		{"two commits", HostGitLab, request, []string{first, second}, []string{"A title\n"}},
		{"one commit", HostGitea, request, []string{first}, []string{
			described, described + rule, "A title (#1)\n\n* web: one\n\nWhy.\n\nNav-Watchdog: app=web\n"}},
		{"no description", HostGitea, []byte("A title\n"), []string{second, first}, []string{
			"A title (#1)\n", "A title (#1)\n" + rule, "A title (#1)\n\n* web: two\n\n* web: one\n\nWhy.\n\nNav-Watchdog: app=web\n"}},
		{"as it is", HostNone, request, []string{first}, []string{string(request)}},
	} {
		messages := make([][]byte, len(c.commits))
		for i, m := range c.commits {
			messages[i] = []byte(m)
		}
		var got []string
		for i, s := range squash(c.host, c.text, messages) {
			got = append(got, string(s.message))
			if s.perhaps != (i > 0) || s.name == "" {
				t.Errorf("%s, %s: message %d is called %q, perhaps %v", c.host, c.name, i, s.name, s.perhaps)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s", c.host, c.name, diff)
		}
	}
}
