package hook

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
)

// everybody is an environment in which every host's variable names somebody, as
// one who forges all but his own host's would set it.
func everybody() map[string]string {
	return map[string]string{
		"GITEA_PUSHER_NAME": "gitea-user", "GL_USERNAME": "gitlab-user", "GL_USER": "gitolite-user",
		"REMOTE_USER": "http-user", "USER": "forged", "LOGNAME": "forged", "GL_ID": "user-1",
	}
}

func TestVouched(t *testing.T) {
	osUser := func() (string, error) { return "os-user", nil }
	own := map[string]string{
		hostGitea: "GITEA_PUSHER_NAME", hostGitLab: "GL_USERNAME", hostGitolite: "GL_USER", hostHTTP: "REMOTE_USER",
	}
	want := map[string]string{
		"": "", hostPlain: "os-user", hostGitea: "gitea-user", hostGitLab: "gitlab-user",
		hostGitolite: "gitolite-user", hostHTTP: "http-user",
	}
	for host, user := range want {
		env := everybody()
		get := func(name string) string { return env[name] }
		if got, err := vouched(host, get, osUser); err != nil || got != user {
			t.Errorf("host %q: %q, %v; want %q", host, got, err, user)
		}
		// Without its own variable, those of the others and the system's user
		// vouch for nobody.
		name, has := own[host]
		if !has {
			continue
		}
		delete(env, name)
		if got, err := vouched(host, get, osUser); err != nil || got != "" {
			t.Errorf("host %q without %s: %q, %v; want nobody", host, name, got, err)
		}
	}
}

func TestVouchedRefuses(t *testing.T) {
	noUser := func() (string, error) { return "", errors.New("no such user") }
	for _, c := range []struct {
		name, host string
		env        map[string]string
		user       string
		err        string
	}{
		{name: "a deploy key, of which Gitea says that the owner pushes", host: hostGitea, env: map[string]string{"GITEA_DEPLOY_KEY_ID": "7"}},
		{name: "no deploy key", host: hostGitea, env: map[string]string{"GITEA_DEPLOY_KEY_ID": "0"}, user: "gitea-user"},
		{name: "a name of two lines", host: hostHTTP, env: map[string]string{"REMOTE_USER": "a\nb"}, err: "no name"},
		{name: "a name that is too long", host: hostHTTP, env: map[string]string{"REMOTE_USER": strings.Repeat("x", 256)}, err: "no name"},
		{name: "an escape sequence", host: hostGitLab, env: map[string]string{"GL_USERNAME": "a\x1b[1m"}, err: "no name"},
		{name: "a system that does not know the user", host: hostPlain, err: "no such user"},
		{name: "an unknown host", host: "sourcehut", err: `no host "sourcehut"`},
	} {
		env := everybody()
		maps.Copy(env, c.env)
		got, err := vouched(c.host, func(name string) string { return env[name] }, noUser)
		if got != c.user || (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.user, c.err)
		}
	}
}

type settings map[string][]string

func (s settings) Config(context.Context, ...string) (map[string][]string, error) {
	if s == nil {
		return nil, errors.New("no configuration")
	}
	return s, nil
}

func TestOptionsOver(t *testing.T) {
	shim := Options{Host: hostGitLab, Watcher: "bot", NoQueue: true}
	for _, c := range []struct {
		name string
		have settings
		want Options
		err  string
	}{
		{name: "nothing", have: settings{}, want: shim},
		{name: "the repository comes first", have: settings{keyHost: {"http"}, keyWatcher: {"old", "other"}, keyQueue: {"true"}},
			want: Options{Host: "http", Watcher: "other"}},
		{name: "one of them", have: settings{keyWatcher: {"other"}}, want: Options{Host: hostGitLab, Watcher: "other", NoQueue: true}},
		{name: "as git writes a boolean", have: settings{keyQueue: {"On"}}, want: Options{Host: hostGitLab, Watcher: "bot"}},
		{name: "and its opposite", have: settings{keyQueue: {"true", "0"}}, want: shim},
		{name: "no value of a queue", have: settings{keyQueue: {"maybe"}}, err: "neither true nor false"},
		{name: "nothing can be read", err: "no configuration"},
	} {
		got, err := shim.over(t.Context(), c.have)
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %+v, %v; want %+v, %q", c.name, got, err, c.want, c.err)
		}
	}
}

func TestOptionsWords(t *testing.T) {
	for _, o := range []Options{{Host: hostGitLab}, {Host: hostGitolite, Watcher: "--host=x y'", NoQueue: true}} {
		if got := parseOptions(o.words()); got != o {
			t.Errorf("parseOptions(%q) = %+v, want %+v", o.words(), got, o)
		}
	}
}
