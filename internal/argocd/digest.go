package argocd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// specDigest is a fingerprint of what an Application deploys and where to, as
// its spec says it: what changes it changes the cluster without any commit.
// Shortened values digest as the whole ones do.
func specDigest(spec *object) string {
	said := map[string]any{}
	for _, key := range []string{"source", "sources", "sourceHydrator", "destination"} {
		if v := significant(shortened(spec.fields[key])); v != nil {
			said[key] = v
		}
	}
	if len(said) == 0 {
		return ""
	}
	return digest(said)
}

// shortened copies sources with their Helm values cut short.
func shortened(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = shortened(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = value
		}
		if helm, ok := out["helm"].(map[string]any); ok {
			short := make(map[string]any, len(helm))
			for key, value := range helm {
				short[key] = value
			}
			shortenHelm(short)
			out["helm"] = short
		}
		return out
	}
	return v
}

// shortenHelm puts digests in the place of the Helm values of a source, which
// are most of a big Application. Doing it twice changes nothing.
func shortenHelm(helm map[string]any) {
	if values, ok := helm["values"].(string); ok && len(values) > 2*sha256.Size {
		helm["values"] = digest(values)
	}
	if values, ok := helm["valuesObject"].(map[string]any); ok {
		helm["valuesObject"] = digest(values)
	}
}

func digest(v any) string {
	text, err := json.Marshal(v) // its keys are sorted
	if err != nil {
		return "unreadable" // JSON it came from, so this cannot be
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
