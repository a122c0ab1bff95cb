package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// fingerprints gives findings names by which a program knows them again in the
// next report. A name does not change when the finding moves to another line, nor
// when a commit is rebased or amended and keeps its subject; no two findings
// of a report have the same.
type fingerprints map[string]int

func (seen fingerprints) of(p Place, f Finding) string {
	where := "file\x00" + p.File
	if p.Commit != "" {
		where = "commit\x00" + p.Subject
	}
	what := fmt.Sprintf("%s\x00%s\x00%s", where, f.Rule, f.Message)
	n := seen[what]
	seen[what]++
	sum := sha256.Sum256(fmt.Appendf(nil, "navlint/1\x00%s\x00%d", what, n))
	return hex.EncodeToString(sum[:16])
}
