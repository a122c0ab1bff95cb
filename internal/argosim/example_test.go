package argosim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/nav-watchdog/nav-watchdog/internal/argosim"
)

// A commit names an image that does not exist; a revert follows.
func Example() {
	tree := newMemory() // any Tree
	tree.push("main", map[string]string{"app/web.yaml": deployment("web:1")})

	sim := argosim.New(tree, argosim.Options{Poll: 15 * time.Second})
	now := time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)
	pass := func(d time.Duration) {
		now = now.Add(d)
		if err := sim.Tick(context.Background(), now); err != nil {
			fmt.Println(err)
		}
	}
	show := func() {
		st, err := sim.State("web")
		fmt.Println(st.Sync, st.Health, st.Phase, err)
	}
	if err := sim.AddApp(argosim.AppSpec{
		Name:      "web",
		Sources:   []argosim.Source{{Path: "app", TargetRevision: "main"}},
		Automated: &argosim.Automated{SelfHeal: true},
	}); err != nil {
		fmt.Println(err)
	}
	pass(0) // sets the clock
	pass(10 * time.Second)
	show()

	tree.push("main", map[string]string{"app/web.yaml": deployment("web:does-not-exist")})
	sim.Webhook("main")
	pass(10 * time.Second)
	show()
	pass(20 * time.Second) // progressDeadlineSeconds
	show()

	tree.push("main", map[string]string{"app/web.yaml": deployment("web:1")})
	pass(time.Minute) // found by polling
	show()
	// Output:
	// Synced Healthy Succeeded <nil>
	// Synced Progressing Succeeded <nil>
	// Synced Degraded Succeeded <nil>
	// Synced Healthy Succeeded <nil>
}
