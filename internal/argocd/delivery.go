package argocd

import "time"

// Delivery is an Application as it was delivered at a moment, between two
// passes of the daemon: the next state may no longer show what it showed, such
// as the results of an operation.
type Delivery struct {
	App *Application
	At  time.Time
}
