package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Signer is who signed a commit, as git sees it.
type Signer struct {
	Name string // of the allowed signer
	Why  string // why the signature does not count; "" = it does
}

// SignedBy holds a commit's signature against a file of allowed signers (the
// format is that of ssh-keygen). Only SSH signatures count: a key that a gpg on
// this machine happens to trust was not named.
func (r *Repo) SignedBy(ctx context.Context, commit, allowed string) (Signer, error) {
	if err := r.checkIDs([]string{commit}); err != nil {
		return Signer{}, fmt.Errorf("checking a signature: %w", err)
	}
	out, err := r.output(ctx, command{args: []string{
		"-c", "gpg.ssh.allowedSignersFile=" + allowed, "-c", "gpg.program=false", "-c", "gpg.x509.program=false",
		"-c", "gpg.ssh.program=ssh-keygen", "-c", "gpg.ssh.revocationFile=",
		"log", "--no-walk", "--format=%G?%x00%GS%x00%GK", "--end-of-options", commit,
	}})
	if err != nil {
		return Signer{}, fmt.Errorf("checking the signature of %s: %w", commit, err)
	}
	f := strings.Split(strings.TrimSuffix(string(out), "\n"), "\x00")
	if len(f) != 3 {
		return Signer{}, fmt.Errorf("checking the signature of %s: git log answered %q", commit, out)
	}
	key := ""
	if f[2] != "" {
		key = " (" + f[2] + ")"
	}
	switch f[0] { // pretty.c, format_commit_one, case 'G'
	case "G":
		return Signer{Name: f[1]}, nil
	case "N":
		return Signer{Why: "it is not signed"}, nil
	case "B":
		return Signer{Why: "its signature is bad"}, nil
	case "U":
		return Signer{Why: "it is signed with a key that is not allowed" + key}, nil
	default:
		return Signer{Why: fmt.Sprintf("its signature cannot be checked (%s)", f[0])}, nil
	}
}

// keyKinds begin a public key as OpenSSH writes it.
var keyKinds = []string{"ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"}

func isPublicKey(s string) bool {
	for _, k := range keyKinds {
		if strings.HasPrefix(s, k) {
			return true
		}
	}
	return false
}

const maxKey = 64 << 10 // bytes of a key's file

// PublicKey gives the public half of an SSH signing key that is written as git's
// user.signingKey is: a file of a private or a public key, or a public key itself
// ("key::ssh-ed25519 AAAA..."), whose private half an agent has.
func (r *Repo) PublicKey(ctx context.Context, key string) (string, error) {
	literal := strings.TrimPrefix(key, "key::")
	if literal != key || isPublicKey(key) {
		return firstLine(literal), nil
	}
	path := key
	if rest, ok := strings.CutPrefix(key, "~/"); ok {
		home := ""
		for _, kv := range r.own {
			if v, ok := strings.CutPrefix(kv, "HOME="); ok {
				home = v
			}
		}
		path = filepath.Join(home, rest)
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxKey {
		err = &SizeError{What: path, Size: info.Size(), Limit: maxKey}
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return "", fmt.Errorf("reading the signing key: %w", err)
	}
	if isPublicKey(string(data)) {
		return firstLine(string(data)), nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-y", "-P", "", "-f", path)
	cmd.Env = r.own
	out, err := cmd.Output()
	if err != nil {
		why := err.Error()
		var failed *exec.ExitError
		if errors.As(err, &failed) && len(failed.Stderr) > 0 {
			why = strings.ReplaceAll(strings.TrimSpace(string(failed.Stderr)), "\n", "; ")
		}
		return "", fmt.Errorf("reading the signing key %q: ssh-keygen: %s\nhint: a key without a passphrase, which only its owner may read (mode 0400 or 0600)", path, why)
	}
	return firstLine(string(out)), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
