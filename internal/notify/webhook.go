package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// DefaultQueue is how many notices wait at most.
const DefaultQueue = 100

// ErrFull: the queue is full, and the notice was dropped.
var ErrFull = errors.New("too many notices wait already")

// ErrClosed: the webhook was closed before the notice was delivered.
var ErrClosed = errors.New("the program ended before it was delivered")

// Config of a Webhook.
type Config struct {
	URL       string
	Secret    []byte // signs each body; nil: not signed
	UserAgent string
	Queue     int // 0: DefaultQueue
	// Done is told what became of each notice, in some goroutine; nil error: it
	// was taken. It must not block.
	Done      func(n Notice, err error)
	Transport http.RoundTripper // nil: one of its own
}

// Webhook delivers notices, one after the other, in the background.
type Webhook struct {
	cfg    Config
	client *retryablehttp.Client
	queue  chan Notice
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	closed bool
}

// New starts the delivery. The error is one of the configuration, and does not
// hold the address.
func New(c Config) (*Webhook, error) {
	if err := checkAddress(c.URL); err != nil {
		return nil, fmt.Errorf("configuring the webhook: %w", err)
	}
	if c.Queue <= 0 {
		c.Queue = DefaultQueue
	}
	if c.Done == nil {
		c.Done = func(Notice, error) {}
	}
	if c.Transport == nil {
		c.Transport = transport()
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Webhook{cfg: c, client: client(c.Transport), queue: make(chan Notice, c.Queue), cancel: cancel, done: make(chan struct{})}
	go w.deliver(ctx)
	return w, nil
}

// Notify queues a notice and returns at once.
func (w *Webhook) Notify(n Notice) {
	w.mu.Lock()
	err := ErrClosed
	if !w.closed {
		select {
		case w.queue <- n:
			err = nil
		default:
			err = ErrFull
		}
	}
	w.mu.Unlock()
	if err != nil {
		w.cfg.Done(n, err)
	}
}

// Close takes no more notices, delivers what waits until ctx ends, and returns
// when nothing of it runs any more.
func (w *Webhook) Close(ctx context.Context) {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	stop := context.AfterFunc(ctx, w.cancel)
	defer stop()
	<-w.done
	w.cancel()
}

func (w *Webhook) deliver(ctx context.Context) {
	defer close(w.done)
	defer w.client.HTTPClient.CloseIdleConnections()
	for n := range w.queue {
		err := ErrClosed
		if ctx.Err() == nil {
			err = w.post(ctx, n)
		}
		w.cfg.Done(n, err)
	}
}

// post delivers one notice.
func (w *Webhook) post(ctx context.Context, n Notice) error {
	body, err := n.body()
	if err != nil {
		return fmt.Errorf("encoding the notice: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, w.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making the request: %w", bare(err))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", w.cfg.UserAgent)
	req.Header.Set(IDHeader, n.ID)
	if len(w.cfg.Secret) > 0 {
		req.Header.Set(SignatureHeader, Sign(w.cfg.Secret, body))
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return bare(err)
	}
	_ = resp.Body.Close() // what it says besides its code is nobody's
	return answered(resp.StatusCode)
}

// transport is one of our own, so that its connections end with it.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.IdleConnTimeout = 2, 90*time.Second
	t.MaxResponseHeaderBytes = 64 << 10
	return t
}
