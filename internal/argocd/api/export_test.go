package api

import "net/http"

// Through has requests go by a transport of the test's.
func (c *Client) Through(t http.RoundTripper) { c.http.HTTPClient.Transport = t }
