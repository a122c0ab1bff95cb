package main

import "fmt"

// repositoryShapes are about several commits, Applications and branches.
func repositoryShapes() []scenario {
	return []scenario{
		{name: "two-in-one-sync", play: func(s *scene) {
			s.first(base())
			s.start()
			one := s.commit("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.do(s.rec.Note("commit "+short(one)+" settings: 2 committed", ""))
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(over)
		}},
		{name: "docs-between", play: func(s *scene) {
			s.first(base())
			s.start()
			s.commit("docs only", files{"README.md": "hello\n"})
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(over)
		}},
		{name: "others-between", play: func(s *scene) {
			f := base()
			f["other/web.yaml"] = deployment("other", "registry.example/other:1")
			s.first(f)
			s.apply(s.application(s.name+"-other", "other"))
			s.start()
			s.commit("other: 2", files{"other/web.yaml": deployment("other", "registry.example/other:2")})
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")}, s.name, s.name+"-other")
			s.sleep(over)
		}},
		{name: "monorepo-one-bad", app: "monorepo-one-bad-a", play: func(s *scene) {
			apps := s.twins()
			s.watched(trailers("both: new release", "arm", apps...), files{
				"a/web.yaml": deployment("a", badImage), "b/web.yaml": deployment("b", "registry.example/b:2"),
			}, apps...)
			s.sleep(over)
		}},
		{name: "monorepo-unnamed", app: "monorepo-unnamed-a", play: func(s *scene) {
			apps := s.twins()
			s.watched(trailers("both: new release", "arm", apps[0]), files{
				"a/web.yaml": deployment("a", badImage), "b/web.yaml": deployment("b", "registry.example/b:2"),
			}, apps...)
			s.sleep(over)
		}},
		{name: "shared-folder", app: "shared-folder-a", play: sharedFolder},
		{name: "merge", play: func(s *scene) {
			s.first(base())
			s.start()
			s.git("checkout", "--quiet", "-b", "topic")
			s.commit("settings: 2", files{"app/settings.yaml": configMap("settings", "2")})
			s.commit("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.git("checkout", "--quiet", "main")
			s.git("merge", "--quiet", "--no-ff", "-m", "Merge branch 'topic'", "topic")
			s.git("branch", "--quiet", "-D", "topic")
			sha := s.git("rev-parse", "HEAD")
			s.push(false, sha, "commit "+short(sha)+" merge of topic pushed", s.name)
			s.rec.Header.Commit = sha
			s.sleep(over)
			s.git("revert", "--no-edit", "-m", "1", sha)
			s.rec.Header.Revert = s.git("rev-parse", "HEAD")
			s.push(false, s.rec.Header.Revert, "revert pushed", s.name)
			s.sleep(40)
		}},
		{name: "other-branch", play: func(s *scene) {
			s.first(base())
			s.git("branch", "release")
			s.push(false, s.git("rev-parse", "HEAD"), "branch release pushed")
			s.start(s.source("app", "release"))
			sha := s.watched("web: version 2", files{"app/web.yaml": web("2")})
			s.sleep(20)
			s.git("checkout", "--quiet", "release")
			s.commit("release only", files{"app/settings.yaml": configMap("settings", "release")})
			s.git("cherry-pick", sha)
			pick := s.git("rev-parse", "HEAD")
			s.push(false, pick, "commit "+short(pick)+" cherry-picked to release pushed", s.name)
			s.sleep(60)
		}},
		{name: "head-target", play: func(s *scene) {
			s.first(base())
			s.start(s.source("app", "HEAD"))
			sha := s.failing("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.revert(sha)
			s.sleep(40)
		}},
		{name: "target-tag", play: func(s *scene) { pinned(s, "v1") }},
		{name: "target-sha", play: func(s *scene) { pinned(s, "") }},
		{name: "source-changed", play: func(s *scene) {
			s.first(base())
			s.git("branch", "stable")
			s.push(false, s.git("rev-parse", "HEAD"), "branch stable pushed")
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(20)
			s.note("a person lets the Application follow stable")
			s.patchApp(s.name, "spec: {source: {targetRevision: stable}}")
			s.sleep(50)
		}},
		{name: "app-of-apps", play: appOfApps},
		{name: "rolling-sync", app: "rolling-sync-canary", play: rollingSync},
	}
}

// twins starts two Applications of one repository.
func (s *scene) twins() []string {
	s.first(files{"a/web.yaml": deployment("a", "registry.example/a:1"), "b/web.yaml": deployment("b", "registry.example/b:1")})
	apps := []string{s.name + "-a", s.name + "-b"}
	s.apply(s.application(apps[0], "a"))
	s.apply(s.application(apps[1], "b"))
	s.settled(apps...)
	return apps
}

func pinned(s *scene, tag string) {
	sha := s.first(base())
	target := sha
	if tag != "" {
		target = tag
		s.git("tag", tag)
		s.push(false, sha, "tag "+tag+" pushed")
	}
	s.start(s.source("app", target))
	s.watched("web: version 2", files{"app/web.yaml": web("2")})
	s.sleep(50)
}

const kustomization = "resources: [web.yaml]\n"

// sharedFolder: the commit changes one Application's own file and a base that
// two deploy from; both name the image in an overlay.
func sharedFolder(s *scene) {
	f := files{"shared/web.yaml": web("1"), "shared/kustomization.yaml": kustomization}
	for _, a := range []string{"a", "b"} {
		f[a+"/kustomization.yaml"] = fmt.Sprintf("resources: [../shared]\nnamePrefix: %s-\n", a)
	}
	s.first(f)
	apps := []string{s.name + "-a", s.name + "-b"}
	s.apply(s.application(apps[0], "a"))
	s.apply(s.application(apps[1], "b"))
	s.settled(apps...)
	s.watched(trailers("shared: new release", "arm", apps[0]), files{
		"shared/web.yaml":      web("does-not-exist"),
		"a/kustomization.yaml": "resources: [../shared]\nnamePrefix: a-\ncommonAnnotations: {release: \"2\"}\n",
	}, apps...)
	s.sleep(over)
}

// appOfApps: the parent stays healthy whatever its child does.
func appOfApps(s *scene) {
	child := func(release string) string {
		return replace(s.application(s.name+"-child", "child"), "spec:\n", "spec:\n  info: [{name: release, value: \""+release+"\"}]\n")
	}
	s.first(files{"app/child.yaml": child("1"), "child/web.yaml": web("1")})
	s.apply(s.application(s.name, "app", fmt.Sprintf("destination: {server: %q, namespace: argocd}", s.c.Server)))
	s.settled(s.name, s.name+"-child")
	s.watched("web: new release, through the parent", files{"app/child.yaml": child("2"), "child/web.yaml": web("does-not-exist")}, s.name, s.name+"-child")
	s.sleep(over)
}

// rollingSync: the canary is the first step and breaks; production waits.
func rollingSync(s *scene) {
	f, bad := files{}, files{}
	for _, a := range []string{"canary", "prod"} {
		f[a+"/web.yaml"] = deployment(a, "registry.example/"+a+":1")
		bad[a+"/web.yaml"] = deployment(a, badImage)
	}
	s.first(f)
	s.apply(fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: %[1]s, namespace: argocd, labels: {%[2]s: %[1]s}}
spec:
  goTemplate: true
  generators: [{list: {elements: [{stage: canary}, {stage: prod}]}}]
  strategy:
    type: RollingSync
    rollingSync:
      steps:
      - matchExpressions: [{key: stage, operator: In, values: [canary]}]
      - matchExpressions: [{key: stage, operator: In, values: [prod]}]
  template:
    metadata: {name: "%[1]s-{{.stage}}", labels: {%[2]s: %[1]s, stage: "{{.stage}}"}}
    spec:
      project: default
      destination: {server: %[3]q, namespace: %[4]s}
      source: {repoURL: %[5]q, path: "{{.stage}}", targetRevision: main}
      syncPolicy: {automated: {selfHeal: true}}
`, s.name, label, s.c.Server, s.ns, s.repo.URL))
	apps := []string{s.name + "-canary", s.name + "-prod"}
	s.settled(apps...)
	s.sleep(10)
	sha := s.watched(trailers("both: new release", "arm", apps...), bad, apps...)
	s.sleep(over + 15)
	s.revert(sha, apps...)
	s.sleep(50)
}
