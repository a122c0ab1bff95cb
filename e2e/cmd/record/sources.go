package main

import "fmt"

// sources are about how manifests come to be and how they are applied.
func sources() []scenario {
	plain := func(with ...string) func(*scene) {
		return func(s *scene) {
			s.first(base())
			s.start(with...)
			sha := s.failing("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.revert(sha)
			s.sleep(40)
		}
	}
	return []scenario{
		{name: "prune-on", play: plain("syncPolicy: {automated: {prune: true, selfHeal: true}}")},
		{name: "server-side", play: plain("syncPolicy: {automated: {selfHeal: true}, syncOptions: [ServerSideApply=true]}")},
		{name: "server-side-two", play: func(s *scene) {
			f := base()
			f["app/worker.yaml"] = deployment("worker", "registry.example/worker:1")
			s.first(f)
			s.start("syncPolicy: {automated: {selfHeal: true}, syncOptions: [ServerSideApply=true]}")
			s.failing("web: new release", files{"app/web.yaml": web("does-not-exist")})
		}},
		{name: "replace", play: plain("syncPolicy: {automated: {selfHeal: true}, syncOptions: [Replace=true]}")},
		{name: "out-of-sync-only", play: plain("syncPolicy: {automated: {selfHeal: true}, syncOptions: [ApplyOutOfSyncOnly=true]}")},
		{name: "ignored-difference", play: func(s *scene) {
			s.first(base())
			s.start("ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]")
			s.watched("web: three pods", files{"app/web.yaml": replace(web("1"), "replicas: 1", "replicas: 3")})
			s.sleep(50)
		}},
		{name: "kustomize", play: func(s *scene) {
			f := base()
			f["app/kustomization.yaml"] = kustomized("1")
			s.first(f)
			s.start()
			sha := s.failing("web: new release", files{"app/kustomization.yaml": kustomized("does-not-exist")})
			s.revert(sha)
			s.sleep(40)
		}},
		{name: "kustomize-server-side", play: func(s *scene) {
			f := base()
			f["app/kustomization.yaml"] = kustomized("1")
			s.first(f)
			s.start("syncPolicy: {automated: {selfHeal: true}, syncOptions: [ServerSideApply=true]}")
			s.failing("web: new release", files{"app/kustomization.yaml": kustomized("does-not-exist")})
		}},
		{name: "polled", play: func(s *scene) { // nobody tells Argo CD of the push
			s.first(base())
			s.start()
			sha := s.commit("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.push(false, sha, "commit "+short(sha)+" web: new release pushed")
			s.rec.Header.Commit = sha
			s.sleep(over + 25)
		}},
		{name: "multi-source-bad", play: func(s *scene) {
			f := base()
			f["more/more.yaml"] = configMap("more", "1")
			s.first(f)
			s.start("source: -", fmt.Sprintf("sources: [{repoURL: %[1]q, path: more, targetRevision: main}, {repoURL: %[1]q, path: app, targetRevision: main}]", s.repo.URL))
			sha := s.failing("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.revert(sha)
			s.sleep(40)
		}},
		{name: "chart-values", play: func(s *scene) {
			s.first(files{
				"charts/web/Chart.yaml":            "apiVersion: v2\nname: web\nversion: 0.1.0\n",
				"charts/web/values.yaml":           "tag: \"0\"\n",
				"charts/web/templates/deploy.yaml": replace(web("TAG"), "TAG", "{{ .Values.tag }}"),
				"env/prod.yaml":                    "tag: \"1\"\n",
			})
			s.start("source: -", fmt.Sprintf("sources: [{repoURL: %[1]q, path: charts/web, targetRevision: main, helm: {valueFiles: [$values/env/prod.yaml]}}, {repoURL: %[1]q, ref: values, targetRevision: main}]", s.repo.URL))
			sha := s.failing("prod: new release", files{"env/prod.yaml": "tag: does-not-exist\n"})
			s.revert(sha)
			s.sleep(40)
		}},
		{name: "moved-file", play: func(s *scene) {
			s.first(base())
			s.start()
			s.watched("web: renamed to front", files{"app/web.yaml": deployment("front", badImage)})
			s.sleep(over)
		}},
	}
}

func kustomized(tag string) string {
	return "resources: [web.yaml, settings.yaml]\nimages: [{name: registry.example/web, newTag: \"" + tag + "\"}]\n"
}
