// Package httpjson calls a server that speaks JSON over HTTP. Each call has a time
// limit, each answer a size limit, and each failure is one [Error].
package httpjson

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/internal/address"
)

// Config says which server is called, and how.
type Config struct {
	// URL is the server's base address; the path of a call is added to its path, and the
	// query of a call to its query.
	URL string
	// Username and Password are sent by basic authentication if Password is not empty.
	Username, Password string
	// Bearer is sent as a token if Bearer is not empty.
	Bearer string
	// Header goes with each call.
	Header http.Header
	// Timeout bounds a call, and the beginning of a stream; 30 s if zero.
	Timeout time.Duration
	// MaxBody bounds an answer in bytes; 64 MB if zero.
	MaxBody int64
	// Transport sends the requests; if nil, the Client has connections of its own.
	Transport http.RoundTripper
}

// Client calls one server. A Client is safe for concurrent use.
type Client struct {
	cfg  Config
	base *url.URL
	http http.Client
}

// New returns a Client. An address that is no HTTP address is an error.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a server: write one such as http://127.0.0.1:4096", address.Public(cfg.URL))
	}
	if base.User != nil {
		return nil, fmt.Errorf("the address of the server %s must hold no password: set the password by its own option", base.Host)
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = 64 << 20
	}
	c := &Client{cfg: cfg, base: base}
	c.http.Transport = cfg.Transport
	if standard, ok := http.DefaultTransport.(*http.Transport); ok && cfg.Transport == nil {
		c.http.Transport = standard.Clone()
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call is one request.
type Call struct {
	Method, Path string
	Query        url.Values
	// Header goes before that of the Config.
	Header http.Header
	// Types are the media types that a stream may have beside text/event-stream. A stream
	// without a type counts as text/plain.
	Types []string
	// In is sent as JSON, or nothing if nil.
	In any
	// Out is a pointer that the answer is decoded into; nil drops the answer.
	Out any
	// Got is where Do puts the headers of the answer; nil drops them.
	Got *http.Header
}

// Do makes a call. Every error is an *Error.
func (c *Client) Do(ctx context.Context, call Call) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout, errSlow)
	defer cancel()
	res, err := c.send(ctx, call, "application/json")
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // nothing was written
	if call.Got != nil {
		*call.Got = res.Header
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, c.cfg.MaxBody+1))
	switch {
	case err != nil:
		return c.lost(ctx, call, err)
	case int64(len(body)) > c.cfg.MaxBody:
		return c.fail(call, res.StatusCode, fmt.Sprintf("the answer is larger than %d bytes", c.cfg.MaxBody), nil)
	case call.Out == nil, len(body) == 0 && res.StatusCode != http.StatusOK:
		return nil
	}
	if err := json.Unmarshal(body, call.Out); err != nil {
		return c.fail(call, res.StatusCode, notJSON(res), err)
	}
	return nil
}

// Stream makes a call whose answer is a stream of events. The time limit bounds the
// headers, and ctx the stream. Every error is an *Error.
func (c *Client) Stream(ctx context.Context, call Call) (*Stream, error) {
	inner, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.cfg.Timeout, func() { cancel(errSlow) })
	res, err := c.send(inner, call, strings.Join(append([]string{eventStream}, call.Types...), ", "))
	if !timer.Stop() && err == nil {
		_ = res.Body.Close()
		err = c.lost(inner, call, errSlow)
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(cmp.Or(res.Header.Get("Content-Type"), "text/plain"))
	if kind != eventStream && !slices.Contains(call.Types, kind) {
		stop := time.AfterFunc(c.cfg.Timeout, func() { cancel(errSlow) })
		quoted := said(res)
		stop.Stop()
		_ = res.Body.Close()
		cancel(nil)
		return nil, c.fail(call, res.StatusCode, fmt.Sprintf("%sthe answer is %s and no stream of events: is the address right?", quoted, contentType(res)), nil)
	}
	return &Stream{ReadCloser: res.Body, Type: kind, cancel: cancel}, nil
}

const eventStream = "text/event-stream"

// Stream is the answer to a call of Stream. Close ends its request.
type Stream struct {
	io.ReadCloser
	// Type is the media type.
	Type   string
	cancel context.CancelCauseFunc
}

// Close implements io.Closer.
func (s *Stream) Close() error {
	s.cancel(nil)
	return s.ReadCloser.Close()
}

// send returns the answer if its status is one of success.
func (c *Client) send(ctx context.Context, call Call, accept string) (*http.Response, error) {
	var body io.Reader
	if call.In != nil {
		raw, is := call.In.(json.RawMessage)
		if !is {
			var err error
			if raw, err = json.Marshal(call.In); err != nil {
				return nil, c.fail(call, 0, "the request could not be encoded", err)
			}
		}
		body = bytes.NewReader(raw)
	}
	at := *c.base // to the letter, for a call without a path
	if call.Path != "" {
		at = *at.JoinPath(call.Path)
	}
	if len(call.Query) > 0 {
		query := at.Query()
		maps.Copy(query, call.Query)
		at.RawQuery = query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, at.String(), body)
	if err != nil {
		return nil, c.fail(call, 0, "the request could not be made", err)
	}
	for _, h := range []http.Header{c.cfg.Header, call.Header} {
		maps.Copy(req.Header, h)
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", accept)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case req.Header.Get("Authorization") != "":
	case c.cfg.Bearer != "":
		req.Header.Set("Authorization", "Bearer "+c.cfg.Bearer)
	case c.cfg.Password != "":
		req.SetBasicAuth(c.cfg.Username, c.cfg.Password)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(ctx, call, err)
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()                                 //nolint:errcheck // nothing was written
	said, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20)) // what could be read is enough for a sentence
	refused := c.fail(call, res.StatusCode, sentence(res, said), nil)
	refused.RetryAfter = RetryAfter(res.Header)
	return nil, refused
}

var errSlow = errors.New("time limit")

// lost is the error of a call that got no complete answer.
func (c *Client) lost(ctx context.Context, call Call, err error) *Error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the address is in the sentence already
	}
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return c.fail(call, 0, fmt.Sprintf("no answer came within %v", c.cfg.Timeout), err)
	case ctx.Err() != nil:
		return c.fail(call, 0, "the call was canceled", context.Cause(ctx))
	}
	return c.fail(call, 0, strings.TrimSpace(remedy(err)), err)
}

func (c *Client) fail(call Call, status int, message string, err error) *Error {
	return &Error{
		Server: address.Public(c.cfg.URL), Method: call.Method, Path: call.Path, Status: status,
		Message: address.Redact(message, c.cfg.URL), err: err,
	}
}
