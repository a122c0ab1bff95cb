package hook

import (
	"context"
	"fmt"
	"strings"
)

// The oldest git on which everything here is tested. The quarantine, without
// which a refused push would leave its objects behind, came with 2.11.
const (
	oldestMajor = 2
	oldestMinor = 39
)

// git looks at the git that hooks will find, if they have the PATH of whoever
// runs this.
func (d Doctor) git(ctx context.Context) error {
	said, err := d.Git(ctx)
	if err != nil {
		return err
	}
	var major, minor int
	if _, err := fmt.Sscanf(strings.TrimPrefix(said, "git version "), "%d.%d", &major, &minor); err != nil {
		return fmt.Errorf("asking git for its version: it says %q", said)
	}
	if major < oldestMajor || (major == oldestMajor && minor < oldestMinor) {
		d.bad("", "%s is older than %d.%d", said, oldestMajor, oldestMinor)
		return nil
	}
	d.ok("%s: a push stays in quarantine until it has passed", said)
	return nil
}
