#!/bin/sh
# Builds the parts of the end-to-end suite once and links them into $CACHE/bin, whose path it prints.
# A part is built anew when its go.mod or go.sum changed. Usage: build.sh [--check] [part...]
# --check builds nothing: it ends with 1 if a part would have to be built, and names it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${NAV_E2E_CACHE:-$HOME/.cache/nav-watchdog-e2e}
check=
if [ "${1:-}" = --check ]; then
	check=yes
	shift
fi
[ -n "$check" ] || mkdir -p "$cache/bin"

# build PART PACKAGE BINARY [go build flags...]
build() {
	part=$1 package=$2 binary=$3
	shift 3
	dir=$here/parts/$part
	key=$(cat "$dir/go.mod" "$dir/go.sum" | sha256sum | cut -c1-12)
	out=$cache/$part-$key/$binary
	if [ -n "$check" ]; then
		[ -x "$out" ] || { echo "$binary is not built: e2e/build.sh $part"; exit 1; }
		return
	fi
	if [ ! -x "$out" ]; then
		echo "building $binary" >&2
		(cd "$dir" && nice -n 19 go build -mod=readonly -trimpath -ldflags=-s "$@" -o "$out.new" "$package")
		mv "$out.new" "$out"
	fi
	ln -sfn "$out" "$cache/bin/$binary"
}

kubernetes() {
	version=$(sed -n 's#^require k8s.io/kubernetes v##p' "$here/parts/kubernetes/go.mod")
	minor=${version#*.}
	v=k8s.io/component-base/version
	# Clients parse the version, so it has to be there.
	flags="-s -X $v.gitVersion=v$version -X $v.gitMajor=${version%%.*} -X $v.gitMinor=${minor%%.*}"
	build kubernetes k8s.io/kubernetes/cmd/kube-apiserver kube-apiserver "-ldflags=$flags"
	build kubernetes k8s.io/kubernetes/cmd/kube-controller-manager kube-controller-manager "-ldflags=$flags"
}

argocd() {
	build argocd github.com/argoproj/argo-cd/v3/cmd argocd
	[ -z "$check" ] || return 0
	# One binary, which looks at the name it was started under.
	for name in argocd-repo-server argocd-application-controller argocd-applicationset-controller argocd-server; do
		ln -sfn "$out" "$cache/bin/$name"
	done
	# The CRDs, at a place that does not depend on the module cache.
	crds=$(cd "$here/parts/argocd" && go list -mod=readonly -m -f '{{.Dir}}' github.com/argoproj/argo-cd/v3)/manifests/crds
	mkdir -p "$cache/crds"
	for crd in application applicationset appproject; do
		install -m 0644 "$crds/$crd-crd.yaml" "$cache/crds/"
	done
}

gitea() {
	build gitea code.gitea.io/gitea gitea '-tags=sqlite sqlite_unlock_notify'
	[ -z "$check" ] || return 0
	# What it reads while it runs, at a place that does not depend on the module cache. The pages need more (a built
	# frontend, which no module has); the API needs no more.
	dir=$(cd "$here/parts/gitea" && go list -mod=readonly -m -f '{{.Dir}}' code.gitea.io/gitea)
	static=${out%/*}/static
	if [ ! -d "$static" ]; then
		rm -rf "$static.new"
		mkdir -p "$static.new/public"
		cp -R "$dir/templates" "$dir/options" "$static.new/"
		chmod -R u+w "$static.new"
		mv "$static.new" "$static"
	fi
	ln -sfn "$static" "$cache/gitea-static"
}

[ $# -gt 0 ] || set -- etcd kubernetes kwok argocd kustomize helm gitea
for part in "$@"; do
	case $part in
	etcd) build etcd go.etcd.io/etcd/server/v3 etcd ;;
	kubernetes) kubernetes ;;
	kwok) build kwok sigs.k8s.io/kwok/cmd/kwok kwok ;;
	argocd) argocd ;;
	kustomize) build kustomize sigs.k8s.io/kustomize/kustomize/v5 kustomize ;;
	gitea) gitea ;;
	helm) build helm helm.sh/helm/v3/cmd/helm helm ;;
	*) echo "build.sh: unknown part $part" >&2; exit 2 ;;
	esac
done
[ -n "$check" ] || echo "$cache/bin"
