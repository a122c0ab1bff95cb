package trailer

import (
	"errors"
	"fmt"
	"strings"
)

// Lengths of names in Kubernetes: DNS-1123 subdomain and label.
const (
	maxSubdomain = 253
	maxLabel     = 63
)

// CheckApp checks the name of an Application as `app` has it, NAME or
// NAMESPACE/NAME. No Application can have a name that is an error.
func CheckApp(s string) error { return checkName(s) }

// checkName checks "name" or "namespace/name" of an Application or
// ApplicationSet: the name a DNS-1123 subdomain, the namespace a DNS-1123 label,
// as Kubernetes has them.
func checkName(s string) error {
	namespace, name, qualified := strings.Cut(s, "/")
	if !qualified {
		return checkSubdomain(s)
	}
	if err := checkLabel(namespace); err != nil {
		return fmt.Errorf("namespace %w", err)
	}
	return checkSubdomain(name)
}

func checkSubdomain(s string) error {
	if len(s) > maxSubdomain {
		return fmt.Errorf("has %d bytes; a name has at most %d", len(s), maxSubdomain)
	}
	for label := range strings.SplitSeq(s, ".") {
		if err := checkLabelBytes(label); err != nil {
			return err
		}
	}
	return nil
}

func checkLabel(s string) error {
	if len(s) > maxLabel {
		return fmt.Errorf("has %d bytes; it may have %d", len(s), maxLabel)
	}
	return checkLabelBytes(s)
}

func checkLabelBytes(s string) error {
	if s == "" {
		return errors.New("is empty, or has an empty part")
	}
	for i, c := range s {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return fmt.Errorf("has %s in it; only a-z, 0-9, '-' and '.' may stand there", describe(s[i:], c))
		}
	}
	if s[0] == '-' || s[len(s)-1] == '-' {
		return errors.New("starts or ends with '-'")
	}
	return nil
}

// describe names a character that has no business where it stands.
func describe(s string, c rune) string {
	if c == '\uFFFD' {
		return fmt.Sprintf("byte 0x%02x", s[0])
	}
	if c > '~' || c < ' ' {
		return fmt.Sprintf("%+q (%U)", c, c)
	}
	return fmt.Sprintf("%q", c)
}
