package arming

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// checkTiming holds deadline-short and retry-stale: can a failure be seen, and a
// revert be deployed, in time?
func checkTiming(r Request, f Facts) []Finding {
	var fs []Finding
	if r.Deadline > 0 {
		if two := 2 * refresh(r); r.Deadline < two {
			fs = append(fs, found(RuleDeadlineShort, Warned, "the deadline of %s is shorter than two refreshes of Argo CD (%s)", r.Deadline, two))
		}
		for _, o := range r.Content.find(func(o Object) bool { return o.ProgressDeadline >= r.Deadline }) {
			fs = append(fs, found(RuleDeadlineShort, Warned, "the deadline of %s ends before %q may take to fail (progressDeadlineSeconds %d)",
				r.Deadline, clip(o.ID.String()), int(o.ProgressDeadline/time.Second)))
			break
		}
	}
	if (f.RetryLimit < 0 || f.RetryLimit > 0) && !f.RetryRefresh {
		times := fmt.Sprintf("%d times", f.RetryLimit)
		if f.RetryLimit < 0 {
			times = "without end"
		}
		fs = append(fs, found(RuleRetryStale, Warned, "%s retries a failed sync %s with the same revision, and a revert waits until then", f.App, times))
	}
	return fs
}

// checkManifests holds app-of-apps, moving-image, replicas-fought-over, ignored-differences
// and replace-or-force of single objects: what the plain manifests say.
func checkManifests(r Request, f Facts) []Finding {
	c := r.Content
	if c == nil || c.Unknown != "" {
		return nil
	}
	var fs []Finding
	if apps := c.find(func(o Object) bool { return o.ID.Group == "argoproj.io" && o.ID.Kind == "Application" }); len(apps) > 0 && (f.State == nil || !f.State.AppOfApps) {
		fs = append(fs, found(RuleAppOfApps, Warned, "%s deploys other Applications (%q), and is healthy whatever becomes of them", f.App, clip(apps[0].ID.String())))
	}
	if images := movingImages(c); len(images) > 0 {
		fs = append(fs, found(RuleMovingImage, Warned, "Git does not fix what %s deploys, and a revert does not bring it back: the image %s",
			f.App, list(images)))
	}
	for _, hpa := range c.find(func(o Object) bool { return o.Scales != nil }) {
		for _, o := range c.find(func(o Object) bool {
			return o.Replicas && o.ID.Kind == hpa.Scales.Kind && o.ID.Name == hpa.Scales.Name && o.ID.Namespace == hpa.ID.Namespace
		}) {
			if !f.ignores(o, "replicas") {
				fs = append(fs, found(RuleReplicas, Warned, "%q scales %q, whose manifest sets spec.replicas: they fight, and %s may never settle",
					clip(hpa.ID.String()), clip(o.ID.String()), f.App))
			}
		}
	}
	var ignored, replaced []string
	for _, o := range c.find(func(o Object) bool { return o.Changed }) {
		if f.ignores(o, "") {
			ignored = append(ignored, o.ID.String())
		}
		if slices.ContainsFunc(o.SyncOptions, replaces) {
			replaced = append(replaced, o.ID.String())
		}
	}
	if len(ignored) > 0 {
		fs = append(fs, found(RuleIgnored, Warned, "the commit changes %s, of which %s ignores differences: what is ignored is not deployed", list(ignored), f.App))
	}
	if len(replaced) > 0 {
		fs = append(fs, found(RuleReplace, Warned, "the commit changes %s, which is replaced or forced when it is synced", list(replaced)))
	}
	return fs
}

// ignores reports whether differences of an object, or of one of its fields, are
// ignored.
func (f Facts) ignores(o Object, field string) bool {
	return slices.ContainsFunc(f.Ignored, func(i Ignored) bool {
		fits := func(pattern, s string) bool {
			if pattern == "" || pattern == s {
				return true
			}
			ok, err := path.Match(pattern, s)
			return err == nil && ok
		}
		group := i.Group == o.ID.Group || i.Group != "" && fits(i.Group, o.ID.Group)
		if !group || !fits(i.Kind, o.ID.Kind) || i.Kind == "" || !fits(i.Name, o.ID.Name) || !fits(i.Namespace, o.ID.Namespace) {
			return false
		}
		return field == "" || slices.ContainsFunc(i.Fields, func(p string) bool { return strings.Contains(p, field) })
	})
}

// movingImages lists the images without a tag that stays what it is.
func movingImages(c *Content) (out []string) {
	for _, o := range c.Objects {
		for _, image := range o.Images {
			if moving(image) && !slices.Contains(out, image) {
				out = append(out, image)
			}
		}
	}
	return out
}

// moving guesses from its name whether an image's tag moves: there is none, it
// is one of the usual words, or a version of fewer than three numbers.
func moving(image string) bool {
	if strings.Contains(image, "@") { // a digest
		return false
	}
	_, name, found := cutLast(image, "/")
	if !found {
		name = image
	}
	_, tag, tagged := strings.Cut(name, ":")
	if !tagged || tag == "" {
		return true
	}
	switch strings.ToLower(tag) {
	case "latest", "stable", "edge", "main", "master", "nightly", "dev", "develop", "testing", "release", "rolling", "canary", "production", "staging":
		return true
	}
	version := strings.TrimPrefix(tag, "v")
	return strings.Trim(version, "0123456789.") == "" && strings.Count(version, ".") < 2 && len(version) < 6
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
