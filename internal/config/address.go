package config

import (
	"errors"
	"strconv"
	"strings"
)

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

// host gives scheme://HOST of an http or https address; "" if it is none.
func host(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if scheme = strings.ToLower(scheme); !ok || scheme != "https" && scheme != "http" {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if rest == "" || rest[0] == ':' {
		return ""
	}
	return scheme + "://" + rest
}

// webAddress refuses what cannot be called. The error does not hold the
// address: paths of webhooks are secrets as a rule.
func webAddress(s string) error {
	if err := oneLine(s); err != nil {
		return err
	}
	if host(s) == "" || strings.ContainsAny(s, " \\") {
		return errors.New("it must be an address that begins with https://HOST/ or http://HOST/")
	}
	return nil
}

// onlyHost is a webhook's address as it may be shown.
func onlyHost(address string) string {
	h := host(address)
	if h == "" || h == address {
		return h
	}
	return h + "/..."
}

// listenAddress refuses what is not HOST:PORT; an empty host is every one.
func listenAddress(s string) error {
	i := strings.LastIndexByte(s, ':')
	if err := oneLine(s); err != nil || i < 0 {
		return errors.New("it must be HOST:PORT, such as 127.0.0.1:9095 or :9095")
	}
	if _, err := strconv.ParseUint(s[i+1:], 10, 16); err != nil {
		return errors.New("the port must be a number up to 65535")
	}
	return nil
}

// Secrets lists what no log, note, status or notice may show: of addresses
// whatever stands before and behind the host.
func (d Daemon) Secrets() []string {
	var out []string
	for _, address := range append([]string{d.Repository}, d.Names...) {
		if hasPassword(address) {
			start, end := userinfo(address)
			user := strings.TrimSuffix(address[start:end], "@")
			if _, password, ok := strings.Cut(user, ":"); ok && password != "" {
				user = password
			}
			out = append(out, user)
		}
	}
	for _, address := range []string{d.Notify.Webhook, d.AliveURL} {
		if h := onlyHost(address); strings.HasSuffix(h, "/...") {
			out = append(out, address, strings.TrimLeft(address[len(withUser(address)):], "/?#"))
			if start, end := userinfo(address); end > start {
				out = append(out, strings.TrimSuffix(address[start:end], "@"))
			}
		}
	}
	return out
}

// withUser is an address up to the end of its host.
func withUser(address string) string {
	start := strings.Index(address, "://") + len("://")
	if i := strings.IndexAny(address[start:], "/?#"); i >= 0 {
		return address[:start+i]
	}
	return address
}
