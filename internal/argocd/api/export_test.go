package api

import (
	"io"
	"log"
	"net/http"
)

// Through has requests go by a transport of the test's.
func (c *Client) Through(t http.RoundTripper) { c.http.HTTPClient.Transport = t }

// Quiet is a server's log that nobody reads.
func Quiet() *log.Logger { return log.New(io.Discard, "", 0) }
