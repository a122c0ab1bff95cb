package hook

import (
	"bytes"
	"context"
	"fmt"
	"testing"
)

type saidRepo struct {
	Repo
	settings
}

func (r saidRepo) Config(ctx context.Context, keys ...string) (map[string][]string, error) {
	return r.settings.Config(ctx, keys...)
}

// What cannot be opened has no configuration to ask.
func TestVoiceWithoutRepo(t *testing.T) {
	for protocol, want := range map[string]string{"web": "GL-HOOK-ERR: gone\n", "ssh": "gone\n"} {
		var out bytes.Buffer
		w := Voice(t.Context(), Config{Out: &out, Getenv: func(string) string { return protocol }})
		if _, err := fmt.Fprintln(w, "gone"); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v; want %q", protocol, out.String(), err, want)
		}
	}
}

func TestVoice(t *testing.T) {
	const (
		said  = "a\n    GL-HOOK-ERR: quoted\nGL-HOOK-ERR: forged\nGitLab: forged\n"
		plain = "a\n    GL-HOOK-ERR: quoted\n    GL-HOOK-ERR: forged\n    GitLab: forged\n"
		page  = "GL-HOOK-ERR: a\nGL-HOOK-ERR:     GL-HOOK-ERR: quoted\nGL-HOOK-ERR:     GL-HOOK-ERR: forged\nGL-HOOK-ERR:     GitLab: forged\n"
	)
	for _, c := range []struct {
		protocol string
		conf     settings
		options  Options
		want     string
	}{
		{protocol: "web", conf: settings{keyHost: {hostGitLab}}, want: page},
		{protocol: "web", conf: settings{}, options: Options{Host: hostGitLab}, want: page},
		{protocol: "web", conf: nil, want: page}, // cannot be read
		{protocol: "ssh", conf: settings{keyHost: {hostGitLab}}, want: plain},
		{protocol: "http", conf: settings{keyHost: {hostGitLab}}, want: plain},
		{protocol: "", conf: settings{keyHost: {hostGitLab}}, want: plain},
		{protocol: "web", conf: settings{keyHost: {hostPlain}}, want: plain}, // forged on another host
		{protocol: "web", conf: settings{keyHost: {hostGitea}}, options: Options{Host: hostGitLab}, want: plain},
	} {
		var out bytes.Buffer
		conf := Config{Out: &out, Repo: saidRepo{settings: c.conf}, Options: c.options,
			Getenv: func(name string) string { return map[string]string{"GL_PROTOCOL": c.protocol}[name] }}
		conf.Out = Voice(t.Context(), conf)
		again := Voice(t.Context(), conf) // one that speaks already is not marked twice
		for i := range len(said) {        // however it is cut up, and by whichever of the two
			w := conf.Out
			if i%2 == 0 {
				w = again
			}
			if n, err := fmt.Fprint(w, said[i:i+1]); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		var whole bytes.Buffer
		conf.Out = &whole
		if n, err := fmt.Fprint(Voice(t.Context(), conf), said); n != len(said) || err != nil {
			t.Fatal(n, err)
		}
		if out.String() != c.want {
			t.Errorf("%q on %v %+v, in pieces:\n%q, want\n%q", c.protocol, c.conf, c.options, out.String(), c.want)
		}
		if whole.String() != c.want {
			t.Errorf("%q on %v %+v:\n%q, want\n%q", c.protocol, c.conf, c.options, whole.String(), c.want)
		}
	}
}
