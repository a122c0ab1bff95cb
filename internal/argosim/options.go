package argosim

import (
	"strings"
	"time"
)

// Options says what kind of cluster it is. The zero value is one like a v3.2
// Argo CD with its defaults, in which an image is ready after five seconds.
type Options struct {
	// RepoURL is the address of the repository that New was given; default
	// "https://git.example.com/demo/deploy.git".
	RepoURL string
	// Repos are further repositories, by address. A source of any other
	// address ends in a ComparisonError, as a repository nobody configured.
	Repos map[string]Tree
	// Poll is timeout.reconciliation; default 120 s. Negative: never, only
	// Refresh and Webhook.
	Poll time.Duration
	// RepoErrorGrace is for how long a manifest that does not render is kept
	// quiet when polling found it; default 180 s.
	RepoErrorGrace time.Duration
	// Rollout is how long new pods take to become ready; default 5 s.
	Rollout time.Duration
	// Image decides the fate of an image, if not only by Rollout.
	Image func(image string) Image
	// Delays are the latencies of the controller.
	Delays Delays
	// InlineHealth persists health in status.resources
	// (controller.resource.health.persist), the default before 3.0.
	InlineHealth bool
	// Seed makes the UIDs of two simulators differ.
	Seed string
	// OnChange is called with every state of every Application in the order
	// in which a watch would deliver them, many in one Tick. OnDelete gets the
	// last state of one that is gone. Neither may call the simulator.
	OnChange func(at time.Time, object []byte)
	OnDelete func(at time.Time, object []byte)
}

// Image is the fate of the pods that run an image.
type Image struct {
	Ready time.Duration // from the start of the rollout (Job: to its end)
	Never bool          // it cannot be pulled: never ready
	Fails bool          // a Job fails instead of completing, other pods never get ready
}

// Delays are the latencies of the two loops. In a real controller they vary
// and the loops race; here each race is decided by these figures, so that
// every recorded order can be had, again and again. Zero means the default.
type Delays struct {
	Compare time.Duration // refresh asked for -> compared; 100 ms
	Patch   time.Duration // .operation written -> status of that comparison written; 20 ms
	Pickup  time.Duration // .operation written -> operationState Running; 50 ms. Below Patch, Running is seen before the new sync.revision
	Apply   time.Duration // Running -> applied, history written; 500 ms
	Report  time.Duration // history -> Succeeded and .operation gone; 20 ms
	// Lag is how far the live cache is behind the cluster; 100 ms. A live
	// change starts a refresh when the cache has it. Above Report+Settle the
	// refresh after an operation still sees the world before it, and with
	// self-heal starts a needless selective operation, as recorded in
	// good-rollout.
	Lag    time.Duration
	Settle time.Duration // Succeeded -> the refresh after the operation; 200 ms
}

const (
	defaultRepoURL = "https://git.example.com/demo/deploy.git"
	defaultPoll    = 120 * time.Second
	defaultGrace   = 180 * time.Second
	defaultRollout = 5 * time.Second
)

func (o Options) withDefaults() Options {
	o.RepoURL = orElse(o.RepoURL, defaultRepoURL)
	o.Poll = orDefault(o.Poll, defaultPoll)
	o.RepoErrorGrace = orDefault(o.RepoErrorGrace, defaultGrace)
	o.Rollout = orDefault(o.Rollout, defaultRollout)
	o.Delays = o.Delays.withDefaults()
	if o.Image == nil {
		ready := o.Rollout
		o.Image = func(image string) Image { return FateByTag(image, ready) }
	}
	return o
}

func (d Delays) withDefaults() Delays {
	return Delays{
		Compare: orDefault(d.Compare, 100*time.Millisecond),
		Patch:   orDefault(d.Patch, 20*time.Millisecond),
		Pickup:  orDefault(d.Pickup, 50*time.Millisecond),
		Apply:   orDefault(d.Apply, 500*time.Millisecond),
		Report:  orDefault(d.Report, 20*time.Millisecond),
		Lag:     orDefault(d.Lag, 100*time.Millisecond),
		Settle:  orDefault(d.Settle, 200*time.Millisecond),
	}
}

// FateByTag is the default of Options.Image: a tag that contains
// "does-not-exist" is never pulled, one that contains "fails" starts and
// fails, every other is ready after ready.
func FateByTag(image string, ready time.Duration) Image {
	_, tag, tagged := cutLast(image, ":")
	switch {
	case tagged && strings.Contains(tag, "does-not-exist"):
		return Image{Never: true}
	case tagged && strings.Contains(tag, "fails"):
		return Image{Ready: ready, Fails: true}
	}
	return Image{Ready: ready}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
