package main

// examples are shown by --help.
func examples() map[string]string {
	return map[string]string{
		"": `The watcher: it looks at Applications of Argo CD, writes verdicts as notes into the
repository, and reverts what asked for it, failed, and passes every gate.

Examples:
    navwatchd drill                               see all of it, on a repository of its own
    navwatchd once --config navwatchd.yaml        a single pass
    navwatchd run --config navwatchd.yaml

Exit codes: 0 done, 1 something is missing or was refused, 2 usage or settings, 3 it
could not be decided.`,
		"run": `Settings come from the file, then the environment, then flags; every one of them is
in docs/navwatchd.yaml.

Examples:
    navwatchd run --config navwatchd.yaml
    navwatchd run --repository /srv/git/deploy.git --in-cluster --dry-run`,
		"once": `Examples:
    navwatchd once --config navwatchd.yaml
    navwatchd once --repository /srv/git/deploy.git --folder applications/ --dry-run`,
		"selfcheck": `Examples:
    navwatchd selfcheck --config navwatchd.yaml`,
		"replay": `Examples:
    navwatchd replay web.timeline
    navwatchd replay --watch 'app=web deadline=60 mode=arm' --json web.timeline`,
		"freeze": `Examples:
    navwatchd freeze web --reason 'the node pool is being replaced'
    navwatchd freeze --repository --reason 'incident 4711'`,
		"thaw": `Examples:
    navwatchd thaw web --reason 'the node pool is done'
    navwatchd thaw --repository --repo git@git.example.com:team/deploy.git`,
		"circuit": `Examples:
    navwatchd circuit reset web`,
		"circuit reset": `Examples:
    navwatchd circuit reset web --reason 'the image was broken, and is mended'
    navwatchd circuit reset --repository --config navwatchd.yaml`,
		"drill": `Examples:
    navwatchd drill
    navwatchd drill --keep`,
	}
}
