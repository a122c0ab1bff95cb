package verdict

import (
	"fmt"
	"strings"
)

// cause is what fails in one line, for people.
func cause(l Look, j Judgement) string {
	for _, r := range l.Operation.Resources {
		if j.OpFailed && r.failed() {
			return clip(r.String() + ": " + r.Message)
		}
	}
	for _, r := range l.Resources {
		if r.Health != "" && r.Health != Healthy && !r.Hook && !r.RequiresPruning {
			return clip(r.String() + ": " + r.Health + " " + r.HealthMessage)
		}
	}
	return clip(l.HealthMessage)
}

func hasChildren(l Look) bool { return len(l.Children) > 0 || l.AppOfApps }

func children(l Look) Reason {
	if len(l.Children) == 0 {
		return Reason{"children-not-assessed", "it deploys other Applications"}
	}
	names := make([]string, 0, len(l.Children))
	for i, c := range l.Children {
		if i == 10 {
			names = append(names, fmt.Sprintf("and %d more", len(l.Children)-i))
			break
		}
		names = append(names, c.String())
	}
	return Reason{"children-not-assessed", strings.Join(names, ", ")}
}
