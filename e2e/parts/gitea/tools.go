//go:build tools

// Package parts pins a part of the end-to-end suite; see e2e/build.sh.
package parts

import _ "code.gitea.io/gitea"
