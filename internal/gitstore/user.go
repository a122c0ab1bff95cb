package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// User is who git's configuration says works here, as `git config` reads it in
// the working directory; what is not said is empty. There need be no repository.
func User(ctx context.Context, o Options) (Identity, error) {
	r := newRepo("", o)
	var who Identity
	for key, to := range map[string]*string{"user.name": &who.Name, "user.email": &who.Email} {
		out, err := r.output(ctx, command{own: true, args: []string{"config", "--get", key}})
		var failed *Error
		if errors.As(err, &failed) && failed.Code == 1 { // not set
			continue
		}
		if err != nil {
			return Identity{}, fmt.Errorf("asking for %s: %w", key, err)
		}
		*to = strings.TrimSpace(string(out))
	}
	return who, nil
}
