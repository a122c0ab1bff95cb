package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// pingTimeout is how long one call may take.
const pingTimeout = 10 * time.Second

// Pinger calls a dead man's switch: an address that somebody else watches and
// that raises the alarm when no call comes any more.
type Pinger struct {
	url, agent string
	client     *http.Client
	failed     func(error)
	due        chan struct{}
	cancel     context.CancelFunc
	done       chan struct{}
}

// NewPinger starts it. Failed is told of calls that did not succeed (nil: the
// first that does after one that did not), in some goroutine; there is no retry,
// because the next pass calls again. A nil transport is one of its own.
func NewPinger(address, agent string, failed func(error), base http.RoundTripper) (*Pinger, error) {
	if err := checkAddress(address); err != nil {
		return nil, fmt.Errorf("configuring the dead man's switch: %w", err)
	}
	if base == nil {
		base = transport()
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Pinger{
		url: address, agent: agent, client: single(base, pingTimeout), failed: failed,
		due: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{}),
	}
	go p.run(ctx)
	return p, nil
}

// Ping asks for a call and returns at once. While one is under way, at most one
// more waits.
func (p *Pinger) Ping() {
	select {
	case p.due <- struct{}{}:
	default:
	}
}

// Close ends the call under way, and returns when it has ended.
func (p *Pinger) Close() {
	p.cancel()
	<-p.done
}

func (p *Pinger) run(ctx context.Context) {
	defer close(p.done)
	defer p.client.CloseIdleConnections()
	broken := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.due:
		}
		err := p.call(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil || broken {
			p.failed(err)
		}
		broken = err != nil
	}
}

func (p *Pinger) call(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	if err != nil {
		return errors.New("the address is no URL")
	}
	req.Header.Set("User-Agent", p.agent)
	resp, err := p.client.Do(req)
	if err != nil {
		return bare(err)
	}
	_ = resp.Body.Close() // only the code counts
	return answered(resp.StatusCode)
}
