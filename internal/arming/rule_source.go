package arming

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// checkSource holds source-type, repository, target-revision, hydrator and
// skip-reconcile: could a revert on the branch reach the Application at all?
func checkSource(r Request, f Facts) []Finding {
	var fs []Finding
	if f.Hydrator {
		// spec.source(s) do not count beside spec.sourceHydrator (R18).
		fs = append(fs, found(RuleHydrator, Refuse, "%s is deployed by the source hydrator", f.App))
	} else {
		fs = append(fs, checkWatchable(r, f)...)
		if ours := ourSources(r, f); len(ours) > 0 {
			fs = append(fs, checkTargetRevision(r, f, ours)...)
		}
	}
	if f.SkipReconcile {
		fs = append(fs, found(RuleSkipReconcile, Refuse, "%s carries the annotation skip-reconcile, so its status is frozen", f.App))
	}
	return fs
}

// checkWatchable is what every watch needs, armed or not: a plain git source of
// this repository. A chart beside a `ref` source of this repository is fine.
func checkWatchable(r Request, f Facts) []Finding {
	if f.Hydrator {
		return nil
	}
	git := slices.DeleteFunc(slices.Clone(f.Sources), func(s verdict.Source) bool { return s.Kind != verdict.SourceGit })
	if len(git) == 0 {
		return []Finding{found(RuleSourceType, Refuse, "%s has no plain git source%s (R1)", f.App, kinds(f.Sources))}
	}
	if r.IsOurRepo == nil && len(f.Ours) == 0 {
		return []Finding{found(RuleRepository, NotAssessed, "no name of this repository is known here, so whether %s uses it was not looked at", f.App)}
	}
	if len(ourSources(r, f)) > 0 {
		return nil
	}
	urls := make([]string, len(git))
	for i, s := range git {
		urls[i] = bare(s.RepoURL)
	}
	return []Finding{found(RuleRepository, Refuse, "no source of %s is this repository, they are %s", f.App, list(urls))}
}

func kinds(sources []verdict.Source) string {
	if len(sources) == 0 {
		return ", it has no source at all"
	}
	var ks []string
	for _, s := range sources {
		ks = append(ks, s.Kind.String())
	}
	slices.Sort(ks)
	return ", only " + strings.Join(slices.Compact(ks), " and ")
}

// ourSources are the plain git sources of this repository; where no name of it
// is known, all that are plain git.
func ourSources(r Request, f Facts) []verdict.Source {
	var ours []verdict.Source
	nameless := r.IsOurRepo == nil && len(f.Ours) == 0
	for _, s := range f.Sources {
		if s.Kind == verdict.SourceGit && (nameless || f.ours(r.IsOurRepo, s.RepoURL)) {
			ours = append(ours, s)
		}
	}
	return ours
}

// checkTargetRevision refuses each source that the commit touches and that
// does not follow the branch. A source without a path (ref) is touched by
// every commit; where none is touched, all are asked.
func checkTargetRevision(r Request, f Facts, ours []verdict.Source) []Finding {
	if r.NoCommit {
		return checkStandingRevision(r, f, ours)
	}
	if r.Branch == "" && r.Vouched == VouchNotAssessed {
		return []Finding{found(RuleTargetRevision, NotAssessed, "the branch on which the commit is going to land is not known here")}
	}
	touched := slices.DeleteFunc(slices.Clone(ours), func(s verdict.Source) bool {
		return !slices.ContainsFunc(r.Paths, func(path string) bool { return inside(path, s.Path) })
	})
	if len(touched) == 0 {
		touched = ours
	}
	var fs []Finding
	for _, s := range touched {
		if r.DefaultBranch == "" && r.Vouched == VouchNotAssessed && (s.TargetRevision == "" || s.TargetRevision == "HEAD") {
			fs = append(fs, found(RuleTargetRevision, NotAssessed, "a source of %s follows the default branch, which is not known here", f.App))
			continue
		}
		if what := notFollowing(s.TargetRevision, short(r.Branch), short(r.DefaultBranch)); what != "" {
			finding := found(RuleTargetRevision, Refuse, "the source %q of %s follows %s", clip(s.Path), f.App, what)
			if s.Path == "" {
				finding.Message = fmt.Sprintf("a source of %s follows %s", f.App, what)
			}
			if !slices.Contains(fs, finding) {
				fs = append(fs, finding)
			}
		}
	}
	return fs
}

// checkTouched holds nothing-deployed: a commit that changes nothing of the
// Application is no reason for its failure, and taking it back no help.
func checkTouched(r Request, f Facts) []Finding {
	ours := ourSources(r, f)
	switch {
	case f.Hydrator || len(ours) == 0:
		return nil // said already
	case r.PathsUnknown:
		return []Finding{found(RuleNothingDeployed, NotAssessed, "what the commit changes is not known yet")}
	}
	dirs := make([]string, len(ours))
	for i, s := range ours {
		if touches(s, r.Paths) {
			return nil
		}
		dirs[i] = s.Path
	}
	return []Finding{found(RuleNothingDeployed, Refuse, "the commit changes nothing below %s, which is what %s deploys", list(dirs), f.App)}
}

// touches reports whether one of the paths is in what a source deploys (R17). A
// glob of manifest-generate-paths counts by the folder before it.
func touches(s verdict.Source, paths []string) bool {
	for _, p := range paths {
		if inside(p, s.Path) {
			return true
		}
		for _, g := range s.GeneratePaths {
			if i := strings.IndexAny(g, "*?[{"); i >= 0 {
				if strings.HasPrefix("/"+p, g[:strings.LastIndexByte(g[:i], '/')+1]) {
					return true
				}
			} else if inside(p, g) {
				return true
			}
		}
	}
	return false
}

// notFollowing says what a target revision follows if it is not the branch;
// "" if it is. It reads it as Argo CD does: "" and HEAD are the default
// branch, 40 hex digits are a commit whatever branch may be called so.
func notFollowing(target, branch, defaultBranch string) string {
	switch {
	case branch == "":
		return fmt.Sprintf("%q, and the branch of the commit is not known", clip(target))
	case target == "" || target == "HEAD":
		if defaultBranch == "" {
			return "the default branch, which is not known"
		}
		if defaultBranch != branch {
			return fmt.Sprintf("the default branch %q, not %q", clip(defaultBranch), clip(branch))
		}
		return ""
	case len(target) == 40 && isHex(target):
		return fmt.Sprintf("the commit %s, not a branch", target)
	case short(target) == branch:
		return ""
	default:
		return fmt.Sprintf("%s, not the branch %q", revisionKind(target), clip(branch))
	}
}

func revisionKind(target string) string {
	quoted := fmt.Sprintf("%q", clip(target))
	isVersion, isWild := version(target)
	switch {
	case strings.HasPrefix(target, "refs/tags/"):
		return "the tag " + quoted
	case strings.HasPrefix(target, "refs/heads/"):
		return "the branch " + quoted
	case strings.ContainsAny(target, "*<>=~^| ,") || isVersion && isWild:
		return "the version range " + quoted
	case len(target) >= 7 && len(target) < 40 && isHex(target):
		return "the short commit " + quoted + " (or a branch or tag of that name)"
	case isVersion:
		return "the tag " + quoted
	default:
		return "another branch or a tag, " + quoted
	}
}

func isHex(s string) bool {
	if len(s)%2 == 1 {
		s += "0"
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

// version reports whether s looks like 1.2, v1.2.3 or v1.2.3-rc1, and whether
// an x or X stands in it for any number, as in 1.x.
func version(s string) (ok, wild bool) {
	core, _, _ := strings.Cut(strings.TrimPrefix(s, "v"), "-")
	core, _, _ = strings.Cut(core, "+")
	parts := strings.Split(core, ".")
	for _, part := range parts {
		switch {
		case part == "x" || part == "X":
			wild = true
		case part == "" || strings.Trim(part, "0123456789") != "":
			return false, false
		}
	}
	return len(parts) > 1, wild
}

// inside reports whether a path is a directory of the repository or below it;
// "" and "." are the whole repository.
func inside(path, dir string) bool {
	dir = cleanDir(dir)
	return dir == "" || path == dir || strings.HasPrefix(path, dir+"/")
}
