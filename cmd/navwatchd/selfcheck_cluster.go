package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argocd/kube"
)

// How far clocks may differ. Times of the cluster are compared with ours where
// the question is how old a status is.
const (
	skewTold   = 5 * time.Second
	skewFailed = 60 * time.Second
)

const clockHint = "let a time service (NTP) set the clock of this machine, and of that one"

// cluster checks whether Applications can be read, by which rights, and when it
// is there.
func (k *checkup) cluster(ctx context.Context) {
	now := k.e.now()
	apps, _, err := k.conf.Cluster.List(ctx, now)
	switch {
	case err != nil:
		k.fail("applications", err, k.source("let the user who runs this read the folder and its files, and look at its path",
			"allow get, list and watch on applications.argoproj.io, and look at the address of the cluster"))
	case len(apps) == 0: // of a folder that is an error
		k.warn("applications", "there are none", "look at source.namespaces; until there are some, watches wait and are NOT_REACHED")
	case k.set.Source.Folder != "":
		k.ok("applications", "%d are in the folder %s", len(apps), k.set.Source.Folder)
	default:
		k.ok("applications", "%d can be listed", len(apps))
	}
	var newest time.Time
	for _, a := range apps {
		if a.Look.ReconciledAt.After(newest) {
			newest = a.Look.ReconciledAt
		}
	}
	at, _ := k.conf.Cluster.(cluster)
	r, live := at.reader.(*kube.Reader)
	if live {
		k.access(ctx, r)
		k.apiClock(r)
	} else {
		k.ok("rights", "a folder is read, so none in a cluster are needed")
	}
	if ahead := newest.Sub(now); ahead > skewFailed {
		k.fail("clock", fmt.Errorf("an Application was reconciled %s from now", ahead.Round(time.Second)), clockHint)
	}
}

// source is what to do about a folder or a cluster, whichever is read.
func (k *checkup) source(ofFolder, ofCluster string) string {
	if k.set.Source.Folder != "" {
		return ofFolder
	}
	return ofCluster
}

// access holds the rights of the account against what is needed, and against
// what it should not have.
func (k *checkup) access(ctx context.Context, r *kube.Reader) {
	got, err := r.Access(ctx)
	if err != nil {
		k.warn("rights", "they could not be asked: "+strings.Join(strings.Split(err.Error(), "\n"), "; "), "allow create on selfsubjectaccessreviews.authorization.k8s.io, as system:basic-user does")
		return
	}
	var missing, surplus []string
	for _, a := range got {
		verb := a.Verb
		if a.Namespace != "" {
			verb += " in " + a.Namespace
		}
		switch {
		case a.Needed && !a.Allowed:
			missing = append(missing, verb)
		case !a.Needed && a.Allowed:
			surplus = append(surplus, verb)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		k.fail("rights", errors.New("not allowed on Applications: "+strings.Join(missing, ", ")), "allow get, list and watch on applications.argoproj.io, in every namespace that is read")
	} else {
		k.ok("rights", "get, list and watch of Applications are allowed")
	}
	if len(surplus) > 0 {
		k.warn("rights", "also allowed on Applications, and not needed: "+strings.Join(surplus, ", "), "take it away: whoever may write an Application may start syncs")
	}
}

func (k *checkup) apiClock(r *kube.Reader) {
	ahead, known := r.Ahead()
	switch {
	case !known:
		k.warn("clock", "the API server says no time", "compare the clocks by hand")
	case ahead.Abs() > skewFailed:
		k.fail("clock", fmt.Errorf("the API server's is %s", apart(ahead)), clockHint)
	case ahead.Abs() > skewTold:
		k.warn("clock", "the API server's is "+apart(ahead), clockHint)
	default:
		k.ok("clock", "the same as the API server's, to %s", skewTold)
	}
}

// commitClock: a commit from the future says that one of two clocks is wrong;
// which of them, nobody knows, so it is no error.
func (k *checkup) commitClock(ctx context.Context) {
	at, err := k.st.repo.CommitTime(ctx, k.view.Branches[k.view.Default])
	if err != nil {
		k.warn("clock", err.Error(), "the last commit has no proper date")
		return
	}
	if ahead := at.Sub(k.e.now()); ahead > skewFailed {
		k.warn("clock", fmt.Sprintf("the last commit on %s was made %s from now", k.view.Default, ahead.Round(time.Second)), clockHint)
		return
	}
	k.ok("clock", "the last commit on %s is of %s", k.view.Default, at.UTC().Format(time.RFC3339))
}

func apart(ahead time.Duration) string {
	if ahead < 0 {
		return ahead.Abs().Round(time.Second).String() + " behind ours"
	}
	return ahead.Round(time.Second).String() + " ahead of ours"
}
