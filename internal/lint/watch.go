package lint

import (
	"errors"

	"github.com/nav-watchdog/nav-watchdog/pkg/trailer"
	"github.com/nav-watchdog/nav-watchdog/pkg/verdict"
)

// Asks reports whether a watch asks for more than a judgement, so that the
// arming rules concern it.
func Asks(w trailer.Watch) bool { return w.Mode == trailer.Arm || w.Mode == trailer.Propose }

// Names lists the Applications that watches name, for people and for the rule
// about paths of apps that are not named. An ApplicationSet is shown as
// appset=NAME and names no Application.
func Names(watches []trailer.Watch) (shown []string, apps []verdict.App) {
	for _, w := range watches {
		if w.AppSet != "" {
			shown = append(shown, "appset="+w.AppSet)
			continue
		}
		shown = append(shown, w.App)
		if app, err := appOf(w); err == nil {
			apps = append(apps, app)
		}
	}
	return shown, apps
}

func appOf(w trailer.Watch) (verdict.App, error) {
	if w.App == "" {
		return verdict.App{}, errors.New("the watch names no Application")
	}
	return verdict.ParseApp(w.App)
}
