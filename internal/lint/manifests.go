package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
)

// File is a file of a worktree.
type File struct {
	Name  string // as it is shown
	Path  string // in the repository; empty: it is in none
	Data  []byte // its beginning, if Large
	Large bool
	Chart bool // it is among the templates of a Helm chart
}

// Worktree is what a lint of manifests asks of the files around it.
type Worktree interface {
	// Files hands over the YAML and JSON files among paths and below those that
	// are folders; without any, of the worktree that globs name, or all.
	Files(paths, globs []string, fn func(File) error) error
	// Declares reports whether a file may hold something that Declared reads.
	Declares(data []byte) bool
	// Declared reads what a file declares. skipped says why it was not looked at.
	Declared(data []byte) (objects []arming.Declared, wrong []arming.FileFinding, skipped string)
}

// ManifestsAsk is what a lint of manifests is asked.
type ManifestsAsk struct {
	Paths   []string
	Mode    trailer.Mode // shadow or arm: all must be fit for it; empty: nobody asked
	Branch  string       // the one on which commits land; empty: any that is watched
	Version arming.Version
	IsOurs  func(url string) bool
}

// maxDeclared bounds the files that declare something, in bytes together.
const maxDeclared = 256 << 20

// read is a file and what was found in it.
type read struct {
	place   Place
	path    string
	objects []arming.Declared
	wrong   []arming.FileFinding
}

// Manifests lints files that declare Applications, ApplicationSets, AppProjects
// and ImageUpdaters, on their own. r is nil outside of a repository.
func (c Config) Manifests(ctx context.Context, r Clone, w Worktree, ask ManifestsAsk) error {
	policy, err := ClonePolicy(ctx, r)
	if err != nil {
		return err
	}
	c.warnPolicy(policy)
	request := arming.Request{
		Vouched: arming.VouchNotAssessed, Branch: ask.Branch, DefaultBranch: ask.Branch,
		Policies: []arming.NamedPolicy{{When: "of this clone", Policy: policy.Policy}},
	}
	if ask.Branch == "" && r != nil {
		if request.DefaultBranch, err = r.Landing(ctx); err != nil {
			return err
		}
	}
	request.IsOurRepo = (&Known{IsOurs: ask.IsOurs}).names(nil, policy.Policy)
	files, around, err := readAll(w, ask.Paths, policy.Policy)
	if err != nil {
		return err
	}
	asked := arming.FileAsk{Request: request, Around: around, Version: ask.Version}
	for _, f := range files {
		if f.path != "" && slices.ContainsFunc(f.objects, func(d arming.Declared) bool { return len(d.Apps) > 0 }) {
			asked.Parts = append(asked.Parts, f.path)
		}
	}
	if request.IsOurRepo == nil && ask.Mode == "" && len(files) > 0 {
		c.note("no name of this repository is known (no remote, no repositories in the policy): whether Applications use it is not assessed")
	}
	if len(files) == 0 {
		c.note("no file holds an Application, ApplicationSet, AppProject or ImageUpdater")
	}
	tally := &Tally{Handler: c.Handler}
	for _, f := range files {
		var fs []Finding
		for _, finding := range f.wrong {
			fs = append(fs, ask.finding(finding, false))
		}
		for _, d := range f.objects {
			fs = append(fs, ask.about(d, asked, policy.Policy)...)
		}
		if err := tally.Add(f.place, fs); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return tally.Close(c.Strict)
}

// about is what there is to say of an object. Where it cannot be watched at all,
// and nobody asked about arming, what arming would mean is left out.
func (ask ManifestsAsk) about(d arming.Declared, asked arming.FileAsk, policy arming.Policy) (fs []Finding) {
	allowed := slices.ContainsFunc(d.Apps, func(a arming.Planned) bool { return policy.MayArm(a.App) })
	found := arming.CheckDeclared(d, asked)
	hopeless := ask.Mode == "" && slices.ContainsFunc(found, func(f arming.FileFinding) bool { return f.Outcome == arming.Refuse && !f.Some && unwatchable(f.Rule) })
	for _, f := range found {
		if ask.wants(f, allowed) && (!hopeless || f.Own || unwatchable(f.Rule)) {
			fs = append(fs, ask.finding(f, allowed))
		}
	}
	return fs
}

// unwatchable: the rule asks what every watch needs.
func unwatchable(rule string) bool {
	return rule == arming.RuleSourceType || rule == arming.RuleRepository
}

// readAll reads every file first: an AppProject may stand in another one than
// its Applications.
func readAll(w Worktree, paths []string, policy arming.Policy) (files []read, around arming.Place, err error) {
	named := arming.NewPathSet(policy.Manifests)
	total := 0
	err = w.Files(paths, policy.Manifests, func(f File) error {
		must := f.Path != "" && len(policy.Manifests) > 0 && named.Match(f.Path)
		if !must && !w.Declares(f.Data) {
			return nil
		}
		if total += len(f.Data); total > maxDeclared {
			return exit.Unclear(fmt.Errorf("the manifests have more than %d bytes together", maxDeclared))
		}
		got := read{place: Place{File: f.Name}, path: f.Path}
		skipped := ""
		switch {
		case f.Chart && !must:
			skipped = "it is a template of a Helm chart"
		case f.Large:
			skipped = fmt.Sprintf("it has more than %d bytes", len(f.Data))
		default:
			got.objects, got.wrong, skipped = w.Declared(f.Data)
		}
		if skipped != "" {
			got.wrong = []arming.FileFinding{skip(skipped, must)}
		}
		for _, d := range got.objects {
			add(&around, d)
		}
		if len(got.objects)+len(got.wrong) > 0 {
			files = append(files, got)
		}
		return nil
	})
	around.From = "these files"
	return files, around, err
}

func add(p *arming.Place, d arming.Declared) {
	if d.Set != nil {
		p.Sets = append(p.Sets, *d.Set)
	}
	if d.Project != nil {
		p.Projects = append(p.Projects, *d.Project)
	}
	if d.Updater != nil {
		p.Updaters = append(p.Updaters, *d.Updater)
	}
}

// skip says that a file was not looked at: what a policy's globs name must be
// readable, as at a push.
func skip(why string, must bool) arming.FileFinding {
	f := arming.FileFinding{Own: true, Wrong: must}
	f.Rule, f.Outcome, f.Message = arming.RuleSkipped, arming.NotAssessed, why
	if strings.Contains(why, "template") {
		f.Hint = hintOf(arming.RuleSkipped)
	}
	if must {
		f.Outcome = arming.Refuse
		f.Rule, f.Message, f.Hint = arming.RuleManifests, "the policy's manifests name this file, and it cannot be read: "+why, hintOf(arming.RuleManifests)
	}
	return f
}

func hintOf(id string) string {
	for _, r := range arming.FileRules() {
		if r.ID == id {
			return r.Hint
		}
	}
	for _, r := range arming.Rules() {
		if r.ID == id {
			return r.Hint
		}
	}
	return ""
}

// wants: who asks about shadow is told what cannot be watched; who asks about
// nothing is told what is ruled out, and what a placeholder leaves open.
func (ask ManifestsAsk) wants(f arming.FileFinding, allowed bool) bool {
	switch {
	case f.Own || ask.Mode == trailer.Arm:
		return true
	case ask.Mode == trailer.Shadow:
		return unwatchable(f.Rule) || f.Rule == arming.RuleSkipReconcile
	}
	return f.Open || f.Outcome == arming.Refuse || f.Outcome == arming.Accepted || allowed
}

// finding gives a finding the severity that the question asks for. What is wrong
// in itself is an error; what only stands in the way of arming is one where
// somebody asked for that, a warning where the policy lets somebody arm, and
// else a note.
func (ask ManifestsAsk) finding(f arming.FileFinding, allowed bool) Finding {
	sev := Note
	switch {
	case f.Wrong:
		sev = Error
	case f.Own:
		if f.Outcome == arming.Warned {
			sev = Warning
		}
	case ask.Mode != "":
		sev = severity(f.Outcome)
	case allowed && f.Outcome == arming.Refuse:
		sev = Warning
	}
	text := armText(f.Finding)
	if !f.Own && f.Outcome == arming.Refuse && ask.Mode == "" {
		text = "rules out arming: " + text
		if unwatchable(f.Rule) {
			text = "cannot be watched: " + armText(f.Finding)
		}
	}
	return Finding{Rule: f.Rule, Severity: sev, Line: f.Line, Col: f.Col, Char: f.Char, Message: text, Hint: f.Hint}
}
