package watchd

import "testing"

// FuzzReadStatus: a status is read, or it is an error and nothing of it counts.
func FuzzReadStatus(f *testing.F) {
	f.Add([]byte(`{"v":1,"at":"2026-01-01T00:00:00Z","tips":{"main":"1"},"verdicts":"2","budgets":[{"commit":"1","app":"web","reach":1,"deadline":2,"recovery":{}}],"freezes":[{"at":"2026-01-01T00:00:00Z","reason":"x"}]}`))
	f.Add([]byte(`{"v":2}`))
	f.Add([]byte(`{"v":1,"budgets":[{"commit":"1","app":"web","reach":-9223372036854775808}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := readStatus(data)
		if err != nil && (s.V != 0 || s.Verdicts != "" || len(s.Tips)+len(s.Freezes)+len(s.used) > 0) {
			t.Fatalf("a broken status counts: %+v", s)
		}
	})
}
