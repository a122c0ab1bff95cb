// Package kube holds the product's reader of Applications against a real API
// server.
package kube

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// Link is a TCP connection between a reader and an API server that can be cut.
type Link struct {
	Address string

	to       string
	listener net.Listener
	mu       sync.Mutex
	cut      bool
	open     map[net.Conn]bool
}

// NewLink forwards to an address.
func NewLink(to string) (*Link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("making a link: %w", err)
	}
	k := &Link{Address: l.Addr().String(), to: to, listener: l, open: map[net.Conn]bool{}}
	go k.serve()
	return k, nil
}

// Close ends it.
func (k *Link) Close() {
	_ = k.listener.Close()
	k.Cut(true)
}

// Cut drops what is open and accepts nothing more, until it is mended.
func (k *Link) Cut(cut bool) {
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

func (k *Link) serve() {
	for {
		in, err := k.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", k.to)
		if err != nil || !k.keep(in, out) {
			_ = in.Close()
			if out != nil {
				_ = out.Close()
			}
			continue
		}
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			go func() {
				_, _ = io.Copy(pair[0], pair[1])
				_ = pair[0].Close()
				_ = pair[1].Close()
			}()
		}
	}
}

func (k *Link) keep(conns ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cut {
		return false
	}
	for _, c := range conns {
		k.open[c] = true
	}
	return true
}
