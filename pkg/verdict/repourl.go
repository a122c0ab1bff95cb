package verdict

import "strings"

// SameRepo reports whether two repository addresses, as people and Argo CD
// write them, name the same repository.
//
// It compares the way in which Argo CD's webhook matches a push to a repoURL,
// which is looser than Argo CD's own SameURL: of an address with a host, only
// the lower-cased host and path count. Dropped are the scheme, the user, the
// port, a leading `ssh.` or `altssh.` of the host, a trailing `/` and a
// trailing `.git`; `git@host:path` is read as git reads it. A file:// address
// and an absolute path are compared as paths, with their case, since those of
// a file system differ in it.
//
// An address that cannot be read (empty, a relative path, a port that is no
// number, a scheme that is none of git's, no path) equals nothing, itself
// included: not knowing is never "the same".
func SameRepo(a, b string) bool {
	x, ok := repoKey(a)
	if !ok {
		return false
	}
	y, ok := repoKey(b)
	return ok && x == y
}

// repoKey is what of an address counts: the host ("" for a path of the file
// system) and the path.
func repoKey(address string) (key [2]string, ok bool) {
	address = strings.TrimSpace(address)
	if address == "" || strings.ContainsFunc(address, unprintable) {
		return key, false
	}
	if strings.HasPrefix(address, "/") {
		return fileKey(address)
	}
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return scpKey(address)
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "ssh", "git", "git+ssh", "ssh+git":
	case "file":
		if host, path, _ := strings.Cut(rest, "/"); host == "" || strings.EqualFold(host, "localhost") {
			return fileKey("/" + path)
		}
		return key, false
	default:
		return key, false
	}
	authority, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	host, ok := dropPort(authority)
	if !ok {
		return key, false
	}
	return hostKey(host, path)
}

// scpKey reads `[user@]host:path`. Git takes the first colon for the one that
// ends the host unless a slash comes first, which makes it a path; of those
// without a colon, `host.domain/path` is accepted too, as the webhook does.
func scpKey(address string) (key [2]string, ok bool) {
	end := strings.IndexAny(address, ":/")
	if strings.HasPrefix(address, "[") || strings.Contains(address, "@[") { // [::1]:path
		if end = strings.Index(address, "]:"); end >= 0 {
			end++
		}
	}
	if end < 0 {
		return key, false
	}
	host := address[:end]
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if address[end] == '/' && (strings.HasPrefix(host, ".") || !strings.Contains(host, ".")) {
		return key, false // a relative path
	}
	return hostKey(host, address[end+1:])
}

func hostKey(host, path string) (key [2]string, ok bool) {
	host = strings.ToLower(host)
	for _, prefix := range []string{"ssh.", "altssh."} {
		if rest, found := strings.CutPrefix(host, prefix); found {
			host = rest
			break
		}
	}
	path = strings.ToLower(dropGit(strings.TrimLeft(path, "/")))
	if host == "" || path == "" {
		return key, false
	}
	return [2]string{host, path}, true
}

func fileKey(path string) (key [2]string, ok bool) {
	path = strings.TrimLeft(dropGit(path), "/")
	if path == "" {
		return key, false
	}
	return [2]string{"", "/" + path}, true
}

func dropGit(path string) string {
	path = strings.TrimRight(path, "/")
	if n := len(path) - len(".git"); n >= 0 && strings.EqualFold(path[n:], ".git") {
		path = strings.TrimRight(path[:n], "/")
	}
	return path
}

// dropPort takes `:443` off an authority. What stands there and is no number
// makes the address one that nobody can use, as in ssh://git@host:org/repo.
func dropPort(authority string) (host string, ok bool) {
	i := strings.LastIndexByte(authority, ':')
	if i < 0 || strings.HasSuffix(authority, "]") {
		return authority, true
	}
	for _, c := range []byte(authority[i+1:]) {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return authority[:i], true
}

func unprintable(r rune) bool { return r <= ' ' || r == 0x7f }
