//go:build tools

// Package parts pins a part of the end-to-end suite; see e2e/build.sh.
package parts

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
