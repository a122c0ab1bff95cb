#!/bin/sh
# The shortest way through everything on a real Gitea: one refused push, one that is queued, one revert. Where Gitea is
# not built (it takes minutes), or a program is missing, it says so and ends well: a machine that has just been set up is
# not broken.
set -eu
cd "$(dirname "$0")"
skip() {
	echo "SKIPPED e2e-smoke: $1"
	exit 0
}
for need in ssh ssh-keygen; do
	command -v "$need" >/dev/null || skip "$need is missing (Debian: openssh-client)"
done
reason=$(./build.sh --check gitea) || skip "$reason"
exec "${GO:-go}" test -count=1 -timeout 10m -v -run '^TestSmoke' ./gitea
