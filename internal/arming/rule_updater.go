package arming

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// checkImageUpdater holds image-updater and image-updater-resource: would a
// program put back what a revert takes away?
func checkImageUpdater(r Request, f Facts) []Finding {
	var fs, resources []Finding
	picked := false
	for _, u := range f.Updaters {
		if ref := u.picks(f); ref != nil {
			picked = true
			resources = append(resources, checkUpdater(r, f, u, *ref))
		}
	}
	if f.ImageUpdater.Managed {
		if f.UpdaterCRD == verdict.Yes && !picked {
			fs = append(fs, found(RuleImageUpdater, Warned,
				"%s carries the annotations of Image Updater and no ImageUpdater resource takes it: it is managed if a version before 1.0 runs", f.App))
		} else {
			u := f.ImageUpdater
			method := u.Method
			if !u.Said {
				method = ""
			}
			fs = append(fs, checkWriteBack(r, f, RuleImageUpdater, "Image Updater", method, u.Target))
		}
	}
	if f.UpdaterCRD == verdict.Unknown && len(resources) == 0 {
		resources = []Finding{found(RuleImageUpdaterCR, NotAssessed, "whether an ImageUpdater resource selects %s was not looked at", f.App)}
	}
	return append(fs, resources...)
}

// checkUpdater is what one ImageUpdater resource that takes the Application means.
func checkUpdater(r Request, f Facts, u Updater, ref UpdaterRef) Finding {
	who := fmt.Sprintf("ImageUpdater %q", clip(u.Name))
	method, target, pullRequest, trap := u.writeBack(ref, f)
	switch {
	case pullRequest && strings.HasPrefix(method, "git"):
		return found(RuleImageUpdaterCR, Noted, "%s opens pull requests for %s and pushes nothing by itself", who, f.App)
	case trap != "" && strings.HasPrefix(method, "git"):
		return found(RuleImageUpdaterCR, Refuse, "%s takes %s, and %s: its override outlives a revert", who, f.App, trap)
	}
	return checkWriteBack(r, f, RuleImageUpdaterCR, who, method, target)
}

// checkWriteBack reads a method as Image Updater does: none is argocd, and the
// method ends at the first colon.
func checkWriteBack(r Request, f Facts, rule, who, said, target string) Finding {
	method, _, _ := strings.Cut(strings.TrimSpace(said), ":")
	switch {
	case said == "":
		return found(rule, Refuse, "%s manages %s with the write-back method argocd (the default): its override outlives a revert", who, f.App)
	case method == "argocd":
		return found(rule, Refuse, "%s manages %s with the write-back method argocd: its override outlives a revert", who, f.App)
	case method != "git":
		return found(rule, Refuse, "%s manages %s with the unknown write-back method %q", who, f.App, clip(said))
	}
	targets, wholeDir := writeBackTargets(r, f, target)
	for _, p := range r.Paths {
		if slices.Contains(targets, p) || slices.ContainsFunc(wholeDir, func(d string) bool { return inside(p, d) }) {
			return found(rule, Refuse, "%s manages %s and writes %q, which the commit changes: it would commit it anew after a revert",
				who, f.App, clip(p))
		}
	}
	return found(rule, Noted, "%s manages %s and commits new tags by itself (write-back method git, to %s), which the commit leaves alone",
		who, f.App, list(append(targets, wholeDir...)))
}

// writeBackTargets gives the files that the git method writes, for each of our
// sources, and the directories of which it may write any file.
//
// Without a target it is .argocd-source-NAME.yaml in the source's path, or
// .argocd-source-NAMESPACE_NAME.yaml. "kustomization[:DIR]" is the
// kustomization there, "helmvalues[:FILE]" the values file, anything else a
// file; relative to the source's path, with a leading slash to the root.
func writeBackTargets(r Request, f Facts, target string) (files, dirs []string) {
	app := f.App
	for _, s := range ourSources(r, f) {
		dir := cleanDir(s.Path)
		kind, rest, _ := strings.Cut(strings.TrimSpace(target), ":")
		switch {
		case kind == "":
			files = append(files, path.Join(dir, ".argocd-source-"+app.Name+".yaml"))
			if app.Namespace != "" {
				files = append(files, path.Join(dir, ".argocd-source-"+app.Namespace+"_"+app.Name+".yaml"))
			}
		case kind == "kustomization":
			base := under(dir, rest)
			for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
				files = append(files, path.Join(base, name))
			}
		case kind == "helmvalues" && rest == "":
			files = append(files, path.Join(dir, "values.yaml"))
		case kind == "helmvalues":
			files = append(files, under(dir, rest))
		case rest == "":
			files = append(files, under(dir, kind))
		default:
			dirs = append(dirs, dir) // a kind that we do not know
		}
	}
	return files, dirs
}

func under(dir, p string) string {
	if rooted, ok := strings.CutPrefix(p, "/"); ok {
		return path.Clean(rooted)
	}
	return path.Join(dir, p)
}

// cleanDir is a source's path without "./" and slashes at its ends; "" is the
// root of the repository.
func cleanDir(dir string) string {
	dir = path.Clean("/" + dir)
	return strings.TrimPrefix(dir, "/")
}
