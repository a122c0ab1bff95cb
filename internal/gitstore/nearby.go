package gitstore

import (
	"os"
	"path/filepath"
)

// nearby finds the git directory of the clone around dir as git does (setup.c,
// setup_git_directory_gently), in the plain case only: a .git folder at or above
// it, on the same file system, which with its work tree belongs to who asks
// (ensure_valid_ownership), and nothing in the environment that says otherwise.
// "": git must be asked.
func nearby(dir string, env []string) string {
	for _, name := range [...]string{"GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "SUDO_UID"} {
		if variable(env, name) != "" {
			return ""
		}
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return ""
	}
	_, device, ok := owner(at)
	for ok {
		gitDir := filepath.Join(at, ".git")
		info, err := os.Lstat(gitDir)
		switch {
		case err == nil && info.IsDir() && plainClone(at, gitDir, device):
			return gitDir
		case err == nil, !os.IsNotExist(err):
			return "" // the file of a linked worktree or submodule, a symbolic link, somebody else's
		case exists(at, "HEAD") && exists(at, "objects"):
			return "" // a bare repository, or within a .git
		}
		above := filepath.Dir(at)
		if above == at {
			return ""
		}
		at = above
		var there uint64
		if _, there, ok = owner(at); there != device {
			return ""
		}
	}
	return ""
}

func plainClone(workTree, gitDir string, device uint64) bool {
	for _, dir := range [...]string{workTree, gitDir} {
		if mine, there, ok := owner(dir); !ok || !mine || there != device {
			return false
		}
	}
	return exists(gitDir, "HEAD") && exists(gitDir, "objects") && exists(gitDir, "refs")
}
