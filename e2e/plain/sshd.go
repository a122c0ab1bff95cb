package plain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nav-watchdog/nav-watchdog/e2e/people"
	"github.com/nav-watchdog/nav-watchdog/e2e/process"
)

// Group is the group id of all accounts.
const Group = 20000

// SSH is Debian's SSH server with accounts that no one else on this machine
// sees: it runs in a mount namespace whose /etc/passwd has some more lines.
type SSH struct {
	*process.Process
	Port int

	dir string
}

// NewSSH starts it with an account for each name. It needs to be root.
func NewSSH(ctx context.Context, dir string, names ...string) (*SSH, error) {
	if me, err := user.Current(); err != nil || me.Uid != "0" {
		return nil, errors.Join(errors.New("accounts of people need root"), err)
	}
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		return nil, fmt.Errorf("openssh-server is not installed: %w", err)
	}
	port, err := process.Port()
	if err != nil {
		return nil, err
	}
	s := &SSH{Port: port, dir: dir}
	if _, err := people.NewKey(ctx, filepath.Join(dir, "host")); err != nil {
		return nil, err
	}
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		id := Group + 1 + i
		if err := s.account(ctx, name, id); err != nil {
			return nil, err
		}
		passwd = fmt.Appendf(passwd, "%s:x:%d:%d::%s:/bin/sh\n", name, id, Group, s.home(name))
	}
	config := fmt.Sprintf(`Port %d
ListenAddress 127.0.0.1
HostKey %s/host
PidFile none
UsePAM no
PasswordAuthentication no
AuthorizedKeysFile .ssh/authorized_keys
PrintMotd no
`, port, dir)
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "passwd"), passwd, 0o644),
		os.WriteFile(filepath.Join(dir, "sshd_config"), []byte(config), 0o600),
	); err != nil {
		return nil, err
	}
	script := `mount --make-rprivate / && mount --bind "$1/passwd" /etc/passwd && mkdir -p /run/sshd && exec "$2" -D -e -f "$1/sshd_config"`
	s.Process = &process.Process{
		Name: "sshd", Bin: "/usr/bin/unshare", Args: []string{"--mount", "sh", "-c", script, "sh", dir, sshd}, Log: filepath.Join(dir, "log"),
		Alone: true, Env: []string{"PATH=" + os.Getenv("PATH")},
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	return s, s.Await(ctx, s.answers)
}

func (s *SSH) home(name string) string { return filepath.Join(s.dir, "home-"+name) }

// Key is a person's private key.
func (s *SSH) Key(name string) string { return filepath.Join(s.dir, "key-"+name) }

// Address is a repository's for a person.
func (s *SSH) Address(name, path string) string {
	return fmt.Sprintf("ssh://%s@127.0.0.1:%d%s", name, s.Port, path)
}

// account makes a home with a key, and trusts repositories of other accounts,
// as an operator does in /etc/gitconfig.
func (s *SSH) account(ctx context.Context, name string, id int) error {
	public, err := people.NewKey(ctx, s.Key(name))
	if err != nil {
		return err
	}
	for path, text := range map[string]string{".ssh/authorized_keys": public + "\n", ".gitconfig": "[safe]\n\tdirectory = *\n"} {
		file := filepath.Join(s.home(name), path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return filepath.WalkDir(s.home(name), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, id, Group))
	})
}

func (s *SSH) answers(ctx context.Context) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(s.Port))
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only read
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	hello := make([]byte, 64)
	n, err := c.Read(hello)
	if err != nil || !strings.HasPrefix(string(hello[:n]), "SSH-2.0-OpenSSH") {
		return fmt.Errorf("it says %q: %w", hello[:n], err)
	}
	return nil
}
