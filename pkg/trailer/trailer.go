// Package trailer reads the trailer block of a commit message as git does, and
// lints and decodes the Nav-Watchdog trailers in it.
package trailer

// Key is the key of the trailer by which a commit asks to be watched.
const Key = "Nav-Watchdog"

// Pos is a place in a message: both count from 1, Col counts bytes.
type Pos struct{ Line, Col int }

// Trailer is one trailer. Value is unfolded and trimmed, as git prints it.
type Trailer struct {
	Key, Value string
	Pos        Pos // of the first byte of the key; zero in a Trailer to be formatted
}

// Block is the trailer block of a message.
type Block struct {
	Trailers   []Trailer
	Start, End int // byte offsets in the message; equal when there is no block
}
