package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/nav-watchdog/nav-watchdog/internal/config"
	"github.com/nav-watchdog/nav-watchdog/internal/exit"
	"github.com/nav-watchdog/nav-watchdog/internal/notify"
	"github.com/nav-watchdog/nav-watchdog/internal/watchd"
)

// secretVariable holds the key that signs notices, where no file does.
const secretVariable = "WEBHOOK_SECRET"

// maxSecret bounds the key, in bytes.
const maxSecret = 4096

// webhookSecret is the key that signs notices; nil: they are not signed.
func webhookSecret(e env, set config.Daemon) ([]byte, error) {
	fromEnv := getenv(e.environ)(secretVariable)
	file := set.Notify.SecretFile
	switch {
	case fromEnv != "" && file != "":
		return nil, exit.Hint(exit.Usagef("the key of the webhook is said twice"), "keep one: %s or notify.secret-file", secretVariable)
	case file == "" && fromEnv == "":
		return nil, nil
	case file == "":
		return []byte(fromEnv), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, exit.Misused(fmt.Errorf("reading the key of the webhook: %w", err))
	}
	data = bytes.TrimRight(data, "\r\n")
	if len(data) == 0 || len(data) > maxSecret {
		return nil, exit.Misused(fmt.Errorf("the key of the webhook in %s must have 1 to %d bytes, it has %d", file, maxSecret, len(data)))
	}
	return data, nil
}

// notices lets the daemon send through a webhook.
type notices struct {
	hook       *notify.Webhook
	repository string // as it may be shown
	clean      redactor
	*outcomes
}

// outcomes are what became of notices, until the daemon asks. They outlive a
// webhook whose settings changed.
type outcomes struct {
	mu   sync.Mutex
	byID map[string]error
}

func (o *outcomes) add(id string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = map[string]error{}
	}
	if got, known := o.byID[id]; known && got == nil {
		return // delivered is delivered
	}
	o.byID[id] = err
}

// Outcomes hands them over.
func (o *outcomes) Outcomes() map[string]error {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.byID
	o.byID = nil
	return out
}

func (n notices) Notify(w watchd.Notice) {
	n.hook.Notify(notify.Notice{
		ID: w.ID, Kind: w.Kind, At: w.At, Repository: n.repository, Watcher: w.Watcher, Text: n.clean.text(w.Text),
		Commit: w.Commit, Branch: w.Branch, App: w.App, Verdict: w.Verdict, Reason: n.clean.text(w.Reason), Recovery: w.Recovery, Revert: w.Revert,
	})
}

// openWebhook starts the webhook; nil: none is configured. What is not delivered
// the daemon sends again.
func openWebhook(set config.Daemon, secret []byte, log *slog.Logger, told func(kind, result string), became *outcomes) (*notify.Webhook, error) {
	if set.Notify.Webhook == "" {
		return nil, nil
	}
	return notify.New(notify.Config{
		URL: set.Notify.Webhook, Secret: secret, UserAgent: userAgent(),
		Done: func(n notify.Notice, err error) {
			became.add(n.ID, err)
			switch {
			case err == nil:
				told(n.Kind, "sent")
				log.Info("notice sent", "id", n.ID, "kind", n.Kind)
			case errors.Is(err, notify.ErrFull):
				told(n.Kind, "dropped")
				log.Warn("notice not delivered", "id", n.ID, "kind", n.Kind, "error", err)
			default:
				told(n.Kind, "failed")
				log.Warn("notice not delivered", "id", n.ID, "kind", n.Kind, "error", err)
			}
		},
	})
}

// openPinger starts the dead man's switch; nil: none is configured.
func openPinger(set config.Daemon, log *slog.Logger, told func(result string)) (*notify.Pinger, error) {
	if set.AliveURL == "" {
		return nil, nil
	}
	return notify.NewPinger(set.AliveURL, userAgent(), func(err error) {
		if err != nil {
			told("failed")
			log.Warn("the dead man's switch could not be called", "error", err)
			return
		}
		told("recovered")
		log.Info("the dead man's switch is called again")
	}, nil)
}

func userAgent() string { return "nav-watchdog/" + version }
