package verdict

import "testing"

func TestPlatformTrouble(t *testing.T) {
	const (
		away    = `error when patching "/dev/shm/1": Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: Post "https://127.0.0.1:9/": dial tcp 127.0.0.1:9: connect: connection refused`
		refused = `admission webhook "a.example.com" denied the request: no`
	)
	failed := func(message string) OperationResource {
		return OperationResource{Status: "SyncFailed", HookPhase: PhaseFailed, Message: message}
	}
	fine := OperationResource{Status: Synced, HookPhase: PhaseRunning, Message: "configmap/settings unchanged"}
	hook := OperationResource{HookType: "PreSync", HookPhase: PhaseFailed, Message: "context deadline exceeded"}
	for _, tt := range []struct {
		name string
		op   Operation
		want bool
	}{
		{"a webhook that is away", Operation{Resources: []OperationResource{fine, failed(away)}}, true},
		{"a webhook that says no", Operation{Resources: []OperationResource{failed(refused)}}, false},
		{"one of each", Operation{Resources: []OperationResource{failed(away), failed(refused)}}, false},
		{"a hook is the commit's own", Operation{Resources: []OperationResource{hook}}, false},
		{"the operation alone says it", Operation{Message: "etcdserver: request timed out", Resources: []OperationResource{fine}}, true},
		{"what failed counts, not the message of the whole", Operation{Message: away, Resources: []OperationResource{failed(refused)}}, false},
		{"nothing is said", Operation{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.op.platformTrouble(); got != tt.want {
				t.Errorf("platformTrouble() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestTerminated(t *testing.T) {
	for message, want := range map[string]bool{
		"Operation terminated":                                       true,
		"Operation terminated (retried 2 times).":                    true,
		"Operation terminated, triggered by controller sync timeout": false,
		"one or more objects failed to apply":                        false,
	} {
		if got := (Operation{Message: message}).terminated(); got != want {
			t.Errorf("%q: %v, want %v", message, got, want)
		}
	}
}
