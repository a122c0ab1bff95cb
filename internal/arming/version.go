package arming

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a version of Argo CD; the zero value is not known.
type Version struct{ Major, Minor int }

// ParseVersion reads 3.2, v3.2 or v3.2.1.
func ParseVersion(s string) (Version, error) {
	parts := strings.Split(strings.TrimPrefix(s, "v"), ".")
	var v Version
	var err error
	if len(parts) == 2 || len(parts) == 3 {
		if v.Major, err = strconv.Atoi(parts[0]); err == nil {
			v.Minor, err = strconv.Atoi(parts[1])
		}
		if err == nil && v.Major >= 1 && v.Minor >= 0 {
			return v, nil
		}
	}
	return Version{}, fmt.Errorf("%q is no version such as 3.2", clip(s))
}

// Known reports whether there is one.
func (v Version) Known() bool { return v != Version{} }

// Before reports whether it is known, and older.
func (v Version) Before(major, minor int) bool {
	return v.Known() && (v.Major < major || v.Major == major && v.Minor < minor)
}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// checkVersion holds argocd-version: fields that a version does not know. It
// drops them without a word, because its schema has no place for them.
func checkVersion(d Declared, v Version) []FileFinding {
	if !v.Known() {
		return nil
	}
	var base []string
	if d.Kind == "ApplicationSet" {
		base = fields("spec.template")
	}
	var fs []FileFinding
	for _, f := range []struct {
		field        string
		major, minor int
		instead      string
	}{
		{"spec.syncPolicy.automated.enabled", 3, 1, "automated sync is on"},
		{"spec.syncPolicy.retry.refresh", 3, 2, "a retry applies the same revision again"},
		{"spec.sourceHydrator", 2, 14, "nothing is hydrated"},
		{"spec.sourceIntegrity", 3, 5, "no signature is asked for"},
	} {
		at := append(append([]string{}, base...), fields(f.field)...)
		if _, there := d.At(at...); there && v.Before(f.major, f.minor) {
			fs = append(fs, d.wrong(RuleVersion, at, "Argo CD %s does not know %s (from %d.%d on): %s", v, strings.Join(at, "."), f.major, f.minor, f.instead))
		}
	}
	for i, s := range firstSources(d) {
		if strings.HasPrefix(s.RepoURL, "oci://") && v.Before(3, 1) {
			fs = append(fs, d.wrong(RuleVersion, d.sourcePath(i, "repoURL"), "Argo CD %s does not know oci:// sources (from 3.1 on)", v))
		}
	}
	return fs
}
