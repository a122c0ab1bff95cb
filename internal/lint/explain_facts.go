package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// places says where facts were looked for, and what says something of the
// Application. said is nil where all Applications are asked about.
func (a *asking) places(said []arming.Facts) []knownPlace {
	var out []knownPlace
	for _, name := range []string{"inventory", "manifests", fromLive} {
		at := slices.IndexFunc(a.facts.places, func(p arming.Place) bool { return p.From == name })
		place := knownPlace{Name: name}
		if at < 0 {
			place.Text = a.missing(name)
			out = append(out, place)
			continue
		}
		p := a.facts.places[at]
		var from []string
		for _, f := range said {
			if f.From == name || name == "manifests" && strings.HasPrefix(f.From, "manifest ") {
				from = append(from, strings.TrimPrefix(f.Where(a.request.Now), "manifest "))
			}
		}
		place.Used = len(from) > 0
		switch name {
		case "inventory":
			place.Text = fmt.Sprintf("%s, written at %s", StatusRef, p.At.UTC().Format("2006-01-02T15:04:05Z"))
		case fromLive:
			place.Text = "asked just now: " + a.Server
		default:
			place.Text = "in the tree of " + a.facts.commit[:min(shortID, len(a.facts.commit))] + " (HEAD)"
			if place.Used {
				place.Text = strings.Join(from, ", ") + " " + place.Text
			}
			place.Text += a.unread()
		}
		if !place.Used && said != nil {
			place.Text += ": says nothing of it"
		}
		out = append(out, place)
	}
	return append(out, a.policyPlace())
}

// unread says which manifests could not be read.
func (a *asking) unread() string {
	bad := append(slices.Clone(a.facts.bad), a.facts.skipped...)
	if len(bad) == 0 {
		return ""
	}
	text := "; not read: " + bad[0]
	if more := len(bad) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

func (a *asking) missing(name string) string {
	switch {
	case name == "inventory" && a.status:
		return "none: " + StatusRef + " holds none that this version reads"
	case name == "inventory":
		return "none: " + StatusRef + " is not here (git fetch origin '+refs/notes/nav/*:refs/notes/nav/*')"
	case name == fromLive:
		return "not asked (--argocd-server URL)"
	}
	return "none: there is no commit yet"
}

func (a *asking) policyPlace() knownPlace {
	p := knownPlace{Name: "policy", Used: a.policy.Exists}
	switch at := a.policy.Rev[:min(shortID, len(a.policy.Rev))]; {
	case a.policy.Broken != nil:
		p.Text = fmt.Sprintf("%s at %s cannot be read, so nobody may arm", PolicyFile, at)
	case !a.policy.Exists:
		p.Text = "none, so nobody may arm (" + PolicyFile + " on the default branch)"
	default:
		p.Text = fmt.Sprintf("%s at %s", PolicyFile, at)
	}
	return p
}

// merged puts beside one another what the places say.
func (a *asking) merged(r arming.Request) []knownFact {
	var facts []knownFact
	add := func(f arming.Fact, from string) {
		i := slices.IndexFunc(facts, func(k knownFact) bool { return k.Name == f.Name })
		if i < 0 {
			i = len(facts)
			facts = append(facts, knownFact{Name: f.Name})
		}
		k := &facts[i]
		v := slices.IndexFunc(k.Values, func(v knownValue) bool { return v.Value == f.Value })
		if v < 0 {
			v = len(k.Values)
			k.Values = append(k.Values, knownValue{Value: f.Value})
		}
		if !slices.Contains(k.Values[v].From, from) {
			k.Values[v].From = append(k.Values[v].From, from)
		}
	}
	for _, place := range r.Places {
		for _, f := range place.Describe(r.Now) {
			add(f, place.Where(r.Now))
		}
	}
	if r.Content != nil {
		add(arming.Fact{Name: "objects", Value: r.Content.Describe()}, "manifests below its sources at "+a.facts.commit[:min(shortID, len(a.facts.commit))])
	}
	if r.Watcher != nil {
		for _, f := range r.Watcher.Describe(r.Places[0].App, r.Now) {
			add(f, "inventory")
		}
	}
	if a.policy.Exists {
		by := strings.Join(a.policy.ArmedBy(r.Places[0].App), ", ")
		add(arming.Fact{Name: "may be armed by", Value: cmp.Or(by, "nobody")}, "policy")
	}
	for i := range facts {
		facts[i].Disagree = len(facts[i].Values) > 1 && facts[i].Name != "Image Updater" && facts[i].Name != "AppProject"
	}
	return facts
}
