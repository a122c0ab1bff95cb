package main

// strange is what Argo CD itself does oddly.
func strange() []scenario {
	return []scenario{
		{name: "wipe-out", play: func(s *scene) {
			s.first(base())
			s.start("syncPolicy: {automated: {prune: true}}")
			s.watched("all gone", files{"app/web.yaml": "", "app/settings.yaml": "", "app/README.md": "empty\n"})
			s.sleep(55)
		}},
		{name: "empty-hook-app", play: func(s *scene) {
			s.first(files{"app/web.yaml": web("1"), "app/smoke.yaml": job("smoke", "1", "PostSync", 60)})
			s.start()
			s.watched("web: new release", files{"app/web.yaml": web("does-not-exist")})
			s.sleep(over)
		}},
	}
}
