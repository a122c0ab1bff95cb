package config

import "strings"

// userinfo finds what stands before the host in scheme://USER:PASSWORD@host;
// the place is empty where there is nothing. It is looser than a URL parser on
// purpose: what cannot be parsed may hold a password all the same.
func userinfo(address string) (start, end int) {
	i := strings.Index(address, "://")
	if i < 0 {
		return 0, 0
	}
	start = i + len("://")
	authority := address[start:]
	if j := strings.IndexAny(authority, "/?#"); j >= 0 {
		authority = authority[:j]
	}
	return start, start + strings.LastIndexByte(authority, '@') + 1
}

// hasPassword reports whether an address holds one: https://user:password@host.
// For http a user alone is one too, since tokens are written so.
func hasPassword(address string) bool {
	start, end := userinfo(address)
	return end > start && (strings.HasPrefix(strings.ToLower(address), "http") || strings.Contains(address[start:end], ":"))
}

// withoutPassword is an address as it may be shown.
func withoutPassword(address string) string {
	if !hasPassword(address) {
		return address
	}
	start, end := userinfo(address)
	return address[:start] + address[end:]
}
