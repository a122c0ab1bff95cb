// Package line is a TCP connection between two programs of a test that can be
// cut, and that breaks where the test wants.
package line

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// Line forwards connections to an address.
type Line struct {
	Address string

	to       string
	listener net.Listener
	mu       sync.Mutex
	cut      bool
	open     map[net.Conn]bool
	limit    Carried
	hang     bool
	carried  []*Carried
}

// Carried is how many bytes one connection carried, or may carry: up to the
// server, and down from it.
type Carried struct{ Up, Down int64 }

// New forwards to an address.
func New(to string) (*Line, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("making a line: %w", err)
	}
	k := &Line{Address: l.Addr().String(), to: to, listener: l, open: map[net.Conn]bool{}}
	go k.serve()
	return k, nil
}

// Close ends it.
func (k *Line) Close() {
	_ = k.listener.Close()
	k.Cut(true)
}

// Cut drops what is open and accepts nothing more, until it is mended.
func (k *Line) Cut(cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = cut
	if cut {
		for c := range k.open {
			_ = c.Close()
		}
		clear(k.open)
	}
}

// Break lets every connection from now on break after so many bytes in one of
// the directions; 0 is never.
func (k *Line) Break(after Carried) { k.set(after, false) }

// Hang is Break, but the connection stays: nothing more comes.
func (k *Line) Hang(after Carried) { k.set(after, true) }

func (k *Line) set(after Carried, hang bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.limit, k.hang, k.carried = after, hang, nil
}

// Carried are the connections since the last Break, in their order.
func (k *Line) Carried() []Carried {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]Carried, len(k.carried))
	for i, c := range k.carried {
		out[i] = *c
	}
	return out
}

func (k *Line) serve() {
	for {
		in, err := k.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", k.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		if !k.carry(in, out) {
			_ = in.Close()
			_ = out.Close()
		}
	}
}

// carry forwards both ways until one of them ends; false: the line is cut.
func (k *Line) carry(in, out net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cut {
		return false
	}
	k.open[in], k.open[out] = true, true
	n, limit, hang := &Carried{}, k.limit, k.hang
	k.carried = append(k.carried, n)
	end := func() {
		_ = in.Close()
		_ = out.Close()
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.open, in)
		delete(k.open, out)
	}
	both := func(to, from net.Conn, n *int64, limit int64) {
		if k.copy(to, from, n, limit) && hang {
			_, _ = io.Copy(io.Discard, from) // until somebody hangs up
		}
		end()
	}
	go both(out, in, &n.Up, limit.Up)
	go both(in, out, &n.Down, limit.Down)
	return true
}

// copy forwards at most so many bytes, and reports whether it were more.
func (k *Line) copy(to io.Writer, from io.Reader, n *int64, limit int64) (over bool) {
	buf := make([]byte, 4096)
	for {
		some, err := from.Read(buf)
		k.mu.Lock()
		over = limit > 0 && *n+int64(some) >= limit
		if over {
			some = int(limit - *n)
		}
		*n += int64(some)
		k.mu.Unlock()
		if _, werr := to.Write(buf[:some]); err != nil || werr != nil || over {
			return over
		}
	}
}
