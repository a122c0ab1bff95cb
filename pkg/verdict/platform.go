package verdict

import "strings"

// terminated tells whether a person ended the operation. Argo CD's own timeout
// adds what triggered it, and counts against the commit.
func (o Operation) terminated() bool {
	return strings.HasPrefix(o.Message, "Operation terminated") && !strings.Contains(o.Message, "triggered by")
}

// platformTrouble tells whether what made an operation fail is the cluster's
// own trouble: an admission webhook or an API server that does not answer ends
// an operation Failed, as a bad manifest does, and only the message tells them
// apart (seen on Argo CD 3.2). Every object that failed must say so; a hook that
// failed, or an object that was refused, is the commit's.
func (o Operation) platformTrouble() bool {
	failed := 0
	for _, r := range o.Resources {
		if !r.failed() {
			continue
		}
		failed++
		if r.HookType != "" || !saysPlatform(r.Message) {
			return false
		}
	}
	return failed > 0 || saysPlatform(o.Message)
}

func (r OperationResource) failed() bool {
	return r.Status == "SyncFailed" || r.HookPhase == PhaseFailed || r.HookPhase == PhaseError
}

// saysPlatform knows the words of the API server and of its clients for a
// request that nobody decided.
func saysPlatform(message string) bool {
	for _, words := range [...]string{
		"failed calling webhook", // an admission webhook that denies says "denied the request"
		"failed to call webhook",
		"connect: connection refused",
		"no route to host",
		"i/o timeout",
		"TLS handshake timeout",
		"context deadline exceeded",
		"etcdserver: ",
		"the server is currently unable to handle the request",
		"the server was unable to return a response in the time allotted",
		"too many requests, please try again later",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
