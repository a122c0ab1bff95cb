// Package notify carries notices to a webhook, and calls a dead man's switch.
//
// Neither ever blocks its caller: notices wait in a bounded queue, and a call
// that is still under way when the next is due is not made twice. A redirect is
// followed only on the same host and only as a POST. No error, and no notice,
// holds the address, the secret or a token. docs/notices.md has the format.
package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Notice is the body of one POST; docs/notices.md describes it. A field that
// says nothing is left out.
type Notice struct {
	V          int       `json:"v"`  // of this format, 1
	ID         string    `json:"id"` // the same for the same thing, also after a restart
	Kind       string    `json:"kind"`
	At         time.Time `json:"at"`
	Repository string    `json:"repository"`
	Watcher    string    `json:"watcher"`
	Text       string    `json:"text"`

	Commit   string `json:"commit,omitempty"`
	Branch   string `json:"branch,omitempty"`
	App      string `json:"app,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Recovery string `json:"recovery,omitempty"`
	Revert   string `json:"revert,omitempty"`
}

// Version is that of the format.
const Version = 1

// The headers of a notice.
const (
	SignatureHeader = "Nav-Watchdog-Signature" // sha256=HEX: Sign of the body
	IDHeader        = "Nav-Watchdog-Id"        // the notice's id, to drop what came twice
)

// maxText bounds every text of a notice, in bytes.
const maxText = 2000

// body encodes a notice, its texts bounded.
func (n Notice) body() ([]byte, error) {
	n.V, n.At = Version, n.At.UTC().Truncate(time.Second)
	for _, s := range []*string{
		&n.Kind, &n.Repository, &n.Watcher, &n.Text, &n.Commit, &n.Branch, &n.App, &n.Verdict, &n.Reason, &n.Recovery, &n.Revert,
	} {
		*s = bounded(*s)
	}
	return json.Marshal(n)
}

func bounded(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "..."
}

// Sign is the value of SignatureHeader: "sha256=" and the HMAC-SHA256 of the
// body in hex.
func Sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body) // never fails
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
