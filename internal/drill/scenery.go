package drill

import "fmt"

// The people of the drill. Two may arm, one may change the policy.
const (
	developer = "alice"
	colleague = "bob"
	owner     = "olga"
)

// Deploy is the address by which Argo CD knows the drill's repository.
const Deploy = "https://git.example.com/demo/deploy.git"

// policy is .nav-watchdog.yaml of the drill; what it does not say is as it is
// for everybody.
const policy = `version: 1
branches: [main]
repositories: [` + Deploy + `]
owners: [` + owner + `]
arm:
  allow:
    - apps: [web, api, shop, legacy, mail]
      by: [` + developer + `, ` + colleague + `]
`

// The Applications; each has a folder of its own, so that a commit can only be
// about one.
func apps() []App {
	return []App{
		{Name: "web", Path: "apps/web"},
		{Name: "api", Path: "apps/api"},
		{Name: "shop", Path: "apps/shop"},
		{Name: "legacy", Path: "apps/legacy"},
		{Name: "mail", Path: "apps/mail"},
		{Name: "metrics", Chart: "prometheus"},
	}
}

func file(app string) string { return "apps/" + app + "/deployment.yaml" }

// manifest is the Deployment of an app.
func manifest(app, tag string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:
  replicas: 2
  progressDeadlineSeconds: 30
  selector:
    matchLabels: {app: %[1]s}
  template:
    metadata:
      labels: {app: %[1]s}
    spec:
      containers:
        - name: %[1]s
          image: registry.example.com/%[1]s:%[2]s
`, app, tag)
}

// missing is a tag that nobody pushed to the registry.
const missing = "2.0-does-not-exist"

// update is a commit that gives an app another image, and asks for a watch.
func update(who, app, tag, fields string) Change {
	return Change{
		Who: who, Files: map[string]string{file(app): manifest(app, tag)},
		Message: fmt.Sprintf("%s: deploy %s\n\nNav-Watchdog: app=%s %s\n", app, tag, app, fields),
	}
}
