package argocd

import (
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/arming"
)

// Annotations of Argo CD Image Updater v0.x.
const (
	annotationImageList = "argocd-image-updater.argoproj.io/image-list"
	annotationWriteBack = "argocd-image-updater.argoproj.io/write-back-method"
	annotationTarget    = "argocd-image-updater.argoproj.io/write-back-target"
)

// imageUpdater reads the annotations as Image Updater v0.18 does: image-list
// is the switch; the method is `argocd` where none is written, and `git` or
// `git:CREDENTIALS` name the other. Whatever else is written is an error
// there, so that the Application is skipped; it is kept as it is for whoever
// must judge it. The credentials' name is dropped.
func imageUpdater(annotations *object) arming.ImageUpdater {
	iu := arming.ImageUpdater{
		Managed: strings.TrimSpace(annotations.text(annotationImageList)) != "",
		Method:  "argocd",
		Target:  strings.TrimSpace(annotations.text(annotationTarget)),
	}
	written, said := annotations.optional(annotationWriteBack)
	if !said {
		return iu
	}
	iu.Said = true
	iu.Method = strings.TrimSpace(written)
	if method, _, split := strings.Cut(iu.Method, ":"); split && method == "git" {
		iu.Method = method
	}
	return iu
}
