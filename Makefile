# Everything CI runs (.ci/run), one target each. GO and GOLANGCI_LINT may be set.
GO            ?= go
GOLANGCI_LINT ?= golangci-lint
VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo v0.0.0-dev)
FUZZTIME      ?= 30s
BENCHTIME     ?= 1s
PUSHES        ?= 15
# A repository on disk on which bench-push and bench-store measure, too.
NAV_BENCH_REPO ?=
export NAV_BENCH_REPO

.DEFAULT_GOAL := build
.PHONY: build install test short race vet lint fmt fuzz fuzz-explore golden bench bench-go bench-push bench-store bench-load bench-lint cover drill e2e e2e-smoke e2e-check check clean

# The tag leaves out the writer of man pages, which takes a fifth of the start of
# navhook, and nobody calls.
build: ## the three programs, in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -tags urfave_cli_no_docs -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./cmd/...

test: ## every test
	$(GO) test -timeout 20m ./...

short: ## the tests that are quick
	$(GO) test -short ./...

race: ## every test, with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

vet:
	$(GO) vet ./...

lint: ## golangci-lint, and why each linter is on: .golangci.yml
	$(GOLANGCI_LINT) run ./...

fmt: ## fails if gofmt would change a file
	@out=$$(gofmt -l cmd e2e hooks internal pkg) || exit 1; \
	if [ -n "$$out" ]; then echo "gofmt would change:" >&2; echo "$$out" >&2; exit 1; fi

fuzz: ## the seeds and what fuzzing once found, as tests
	$(GO) test -run '^Fuzz' ./...

fuzz-explore: ## every fuzz target for FUZZTIME
	@set -e; for p in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for f in $$(grep -h '^func Fuzz' $$p/*_test.go | sed 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do \
			echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; \
		done; done

bench: bench-go bench-push bench-store bench-load bench-lint ## what it costs; nothing is asserted

bench-go:
	$(GO) test -run '^$$' -bench . -skip '^BenchmarkLoad$$' -benchtime $(BENCHTIME) -benchmem ./...

bench-push: ## cpu of a push with our hooks against one with a bare git log
	$(GO) run ./internal/navtest/pushbench -pushes $(PUSHES)
	$(GO) run ./internal/navtest/pushbench -pushes $(PUSHES) -commits 1000 -refs 10 -files 100000 -apps 1000
	$(GO) run ./internal/navtest/pushbench -pushes 5 -burst 10000
	@if [ -n "$(NAV_BENCH_REPO)" ]; then $(GO) run ./internal/navtest/pushbench -pushes 5 -burst 10000 -repo "$(NAV_BENCH_REPO)"; \
	else echo "SKIPPED the push of a real repository's commits: NAV_BENCH_REPO names none"; fi

bench-store: ## cpu of messages, containment, notes and start-up against one git process each
	$(GO) run ./internal/navtest/storebench

bench-load: ## a daemon with 5,000 Applications, 10,000 open watches and a history of 100,000 commits
	$(GO) test -run '^$$' -bench '^BenchmarkLoad$$' -benchtime 1x -timeout 30m ./cmd/navwatchd

bench-lint: ## cpu of navlint against commitlint, which npm installs outside of the tree (or SKIPPED)
	$(GO) run ./internal/navtest/lintbench

cover: ## coverage by function, in cover.out
	$(GO) test -coverpkg ./... -coverprofile cover.out ./...
	$(GO) tool cover -func cover.out | tail -1

drill: ## the game day, simulated
	$(GO) run ./cmd/navwatchd drill

e2e: ## every test against real servers: Gitea, git http-backend, sshd, Kubernetes, Argo CD; the first time builds them for half an hour
	@for need in redis-server ssh-keygen /usr/sbin/sshd unshare; do \
		command -v $$need >/dev/null || { echo "$$need is missing (Debian: redis-server openssh-server util-linux)" >&2; exit 1; }; \
	done
	e2e/build.sh
	cd e2e && $(GO) test -count=1 -p 1 -timeout 60m -v $(E2EFLAGS) ./...

e2e-smoke: ## one refused push, one queued, one revert on a real Gitea, if it is built already
	@GO=$(GO) e2e/smoke.sh

e2e-check: ## the suite compiles, is vetted and tidy
	cd e2e && $(GO) vet ./... && $(GO) mod tidy -diff

check: fmt vet ## what a change must pass before it is pushed
	$(GO) mod tidy -diff
	$(MAKE) lint test

clean:
	rm -rf bin cover.out
