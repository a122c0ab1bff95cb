package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Validate says what is missing for `navwatchd run` and `once`, and what does
// not go together; nil if nothing. The error is Errors.
func (d Daemon) Validate() error {
	var errs Errors
	missing := func(key, text, hint string) {
		errs = append(errs, &Error{File: "settings", Text: key + ": " + text, Hint: hint})
	}
	if d.Repository == "" {
		missing("repository", "is not said", "give --repository, REPOSITORY or repository in the file: a URL or a path")
	}
	if d.DryRun == nil {
		missing("dry-run", "is not said", "say DRY_RUN=true to only judge; DRY_RUN=false lets armed commits be reverted")
	}
	switch kinds := d.Source.kinds(); {
	case len(kinds) == 0:
		missing("source", "no place to read Applications from is said", "give --folder, --kubeconfig or --in-cluster, or source in the file")
	case len(kinds) > 1:
		missing("source", strings.Join(kinds, " and ")+" are said", "keep one")
	}
	if d.Notes == NotesSigned && d.Watcher.SigningKey == "" {
		missing("notes", "they cannot be signed without a key", "give watcher.signing-key, or notes: hook where our pre-receive guards them")
	}
	if d.Interval <= 0 || d.Interval > time.Hour {
		missing("interval", span(d.Interval)+" is not within 1s to 1h", "")
	}
	if d.StatusInterval <= 0 || d.StatusInterval > time.Hour {
		missing("status-interval", span(d.StatusInterval)+" is not within 1s to 1h", "a heartbeat that is older looks like a dead watcher")
	}
	if d.Refresh.Reconciliation <= 0 || d.Refresh.Jitter < 0 {
		missing("refresh", "the time between two comparisons must be known",
			"where Argo CD does not poll (timeout.reconciliation: 0), say how long a webhook may take at most")
	}
	if d.Watcher.Name == "" || d.Watcher.Email == "" {
		missing("watcher", "name and email are needed for commits", "")
	}
	if d.Notify.SecretFile != "" && d.Notify.Webhook == "" {
		missing("notify", "there is a secret and nothing to sign with it", "give --webhook, WEBHOOK or notify.webhook in the file")
	}
	return errs.err()
}

// DefaultMirror is where the mirror is if nothing is said: below the user's
// cache directory, a name for each repository.
func (d Daemon) DefaultMirror(cacheDir string) string {
	sum := sha256.Sum256([]byte(d.Repository))
	return path.Join(cacheDir, "nav-watchdog", hex.EncodeToString(sum[:8])+".git")
}

// Effective lists every setting as it counts, "key: value" a line in the order
// of Settings, without passwords; of a webhook only the host. It is for logs, and
// what Digest is of.
func (d Daemon) Effective() string {
	dry := "not said"
	if d.DryRun != nil {
		dry = fmt.Sprint(*d.DryRun)
	}
	values := map[string]string{
		"repository": withoutPassword(d.Repository), "mirror": d.Mirror, "repositories": joined(d.Names),
		"source.folder": d.Source.Folder, "source.kubeconfig": d.Source.Kubeconfig,
		"source.in-cluster": fmt.Sprint(d.Source.InCluster), "source.namespaces": joined(d.Source.Namespaces),
		"interval": span(d.Interval), "refresh.reconciliation": span(d.Refresh.Reconciliation), "refresh.jitter": span(d.Refresh.Jitter),
		"dry-run": dry, "notes": d.Notes,
		"watcher.name": d.Watcher.Name, "watcher.email": d.Watcher.Email, "watcher.signing-key": d.Watcher.SigningKey,
		"watcher.allowed-signers": d.Watcher.AllowedSigners,
		"log.format":              d.Log.Format, "log.level": d.Log.Level, "status-interval": span(d.StatusInterval),
		"on-update": d.OnUpdate, "notify.webhook": onlyHost(d.Notify.Webhook), "notify.secret-file": d.Notify.SecretFile,
		"alive-url": onlyHost(d.AliveURL), "listen": d.Listen,
	}
	var b strings.Builder
	for _, s := range Settings() {
		fmt.Fprintf(&b, "%s: %q\n", s.Key, values[s.Key])
	}
	return b.String()
}

// Shown is the repository's address as it may be shown.
func (d Daemon) Shown() string { return withoutPassword(d.Repository) }

// Webhook is the webhook's address as it may be shown: its host.
func (d Daemon) Webhook() string { return onlyHost(d.Notify.Webhook) }

// Digest is "sha256:" and the hash of Effective: what a note's Nav-Watcher
// says after config=.
func (d Daemon) Digest() string {
	sum := sha256.Sum256([]byte(d.Effective()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// joined writes a list whose order and repetitions mean nothing.
func joined(list []string) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = withoutPassword(s)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}
