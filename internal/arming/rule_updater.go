package arming

import (
	"path"
	"slices"
	"strings"
)

// checkImageUpdater holds image-updater and image-updater-resource: would a
// program put back what a revert takes away?
func checkImageUpdater(r Request) []Finding {
	var fs []Finding
	if r.Facts.ImageUpdater.Managed {
		fs = append(fs, checkWriteBack(r))
	}
	return append(fs, found(RuleImageUpdaterCR, NotAssessed, "whether an ImageUpdater resource selects %s was not looked at", r.app()))
}

// checkWriteBack reads the annotations as Image Updater v0.x does: no method
// is argocd, the method ends at the first colon.
func checkWriteBack(r Request) Finding {
	u := r.Facts.ImageUpdater
	method, _, _ := strings.Cut(strings.TrimSpace(u.Method), ":")
	switch {
	case !u.Said || u.Method == "":
		return found(RuleImageUpdater, Refuse,
			"Image Updater manages %s with the write-back method argocd (the default): its override outlives a revert", r.app())
	case method == "argocd":
		return found(RuleImageUpdater, Refuse,
			"Image Updater manages %s with the write-back method argocd: its override outlives a revert", r.app())
	case method != "git":
		return found(RuleImageUpdater, Refuse, "Image Updater manages %s with the unknown write-back method %q", r.app(), clip(u.Method))
	}
	targets, wholeDir := writeBackTargets(r)
	for _, p := range r.Paths {
		if slices.Contains(targets, p) || slices.ContainsFunc(wholeDir, func(d string) bool { return inside(p, d) }) {
			return found(RuleImageUpdater, Refuse, "Image Updater manages %s and writes %q, which the commit changes: it would commit it anew after a revert",
				r.app(), clip(p))
		}
	}
	return found(RuleImageUpdater, Noted, "Image Updater manages %s and commits new tags by itself (write-back method git, to %s), which the commit leaves alone",
		r.app(), list(append(targets, wholeDir...)))
}

// writeBackTargets gives the files that the git method writes, for each of our
// sources, and the directories of which it may write any file.
//
// Without a target it is .argocd-source-NAME.yaml in the source's path, or
// .argocd-source-NAMESPACE_NAME.yaml. "kustomization[:DIR]" is the
// kustomization there, "helmvalues[:FILE]" the values file, anything else a
// file; relative to the source's path, with a leading slash to the root.
func writeBackTargets(r Request) (files, dirs []string) {
	app := r.app()
	for _, s := range ourSources(r) {
		dir := cleanDir(s.Path)
		kind, rest, _ := strings.Cut(strings.TrimSpace(r.Facts.ImageUpdater.Target), ":")
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
