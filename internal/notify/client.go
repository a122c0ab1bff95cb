package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Limits of one request, and of all attempts together.
const (
	attemptTimeout = 10 * time.Second
	maxRetries     = 5
	minWait        = time.Second
	maxWait        = 30 * time.Second
	noticeTimeout  = 3 * time.Minute
)

// checkAddress demands an absolute http or https address. Its error does not
// hold the address: it may be a secret.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("the address is no URL")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return errors.New("the address must begin with https://HOST/ or http://HOST/")
	}
	return nil
}

// client posts with retries. What it returns as an error names no address.
func client(base http.RoundTripper) *retryablehttp.Client {
	c := retryablehttp.NewClient()
	c.Logger = nil // it would log addresses
	c.RetryMax, c.RetryWaitMin, c.RetryWaitMax = maxRetries, minWait, maxWait
	c.HTTPClient = single(base, attemptTimeout)
	c.CheckRetry = retry
	c.Backoff = func(least, most time.Duration, attempt int, resp *http.Response) time.Duration {
		// A server may ask for more patience, but for no more than most.
		return min(most, retryablehttp.DefaultBackoff(least, most, attempt, resp))
	}
	c.ErrorHandler = func(resp *http.Response, err error, attempts int) (*http.Response, error) {
		switch {
		case err != nil:
			err = bare(err)
		case resp != nil:
			err = answered(resp.StatusCode)
		default:
			err = errors.New("no answer")
		}
		if resp != nil {
			_ = resp.Body.Close() // it failed already
		}
		return nil, fmt.Errorf("giving up after %d attempts: %w", attempts, err)
	}
	return c
}

// single is a client for one request, of at most timeout.
func single(base http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{Transport: base, Timeout: timeout, CheckRedirect: sameHost}
}

// maxRedirects on the same host.
const maxRedirects = 3

// sameHost follows a redirect only to where the notice was sent anyway, and only
// if it stays what it is: a POST that becomes a GET would deliver nothing.
func sameHost(next *http.Request, before []*http.Request) error {
	first := before[0]
	if len(before) > maxRedirects || next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host || next.Method != first.Method {
		return http.ErrUseLastResponse
	}
	return nil
}

// retry decides by what can be better next time: the network, 429 and 5xx.
func retry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		again, _ := retryablehttp.DefaultRetryPolicy(ctx, nil, err)
		return again, nil
	}
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500, nil
}

// answered is the error of a status code; nil for 2xx.
func answered(code int) error {
	switch {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return errors.New("it answered " + strconv.Itoa(code) + ", a redirect that is not followed")
	}
	return errors.New("it answered " + strconv.Itoa(code) + " " + http.StatusText(code))
}

// bare takes the address out of an error.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
