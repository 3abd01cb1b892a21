package send

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/internal/address"
)

const (
	// mostAnswer bounds what is read of an answer, in bytes.
	mostAnswer = 64 << 10
	// mostWait bounds the wait that a receiver asks for, and mostPause the one that grows.
	mostWait  = 5 * time.Minute
	mostPause = time.Minute
	// hopeless is how many spans a receiver may refuse one by one before it has taken any.
	hopeless = 16
)

// Config says where spans go, and how.
type Config struct {
	// URL is the receiver's address. If its path does not end in /traces, /v1/traces is added to
	// it, as OpenTelemetry does with the address of a receiver. It is https, or http to this
	// machine. AllowHTTP allows http to others: who is on the way then reads spans and keys.
	URL       string
	AllowHTTP bool
	// Header goes with each request, for keys and the like. The headers of the body are not in it.
	Header http.Header
	// Timeout bounds one request; 30 s if zero.
	Timeout time.Duration
	// Attempts bounds how often one request is sent; 8 if zero.
	Attempts int
	// Waits, if set, hears why a request is tried again, and after which time.
	Waits func(why string, wait time.Duration)
	// Transport sends the requests; if nil, the Sender has connections of its own.
	Transport http.RoundTripper
}

// Result is what became of spans. First is why the first of the dropped ones was dropped, in the
// receiver's words.
type Result struct {
	Sent, Dropped int
	First         string
}

// Plus is the sum of two results, of which r is the earlier one.
func (r Result) Plus(s Result) Result {
	return Result{r.Sent + s.Sent, r.Dropped + s.Dropped, cmp.Or(r.First, s.First)}
}

// Sender sends spans to one receiver. It has no goroutines, and is for one goroutine at a time.
type Sender struct {
	cfg  Config
	at   string // the address
	http http.Client
	gzip *gzip.Writer
	all  Result // since the beginning
}

// New returns a Sender. Errors are of the address and the headers.
func New(cfg Config) (*Sender, error) {
	at, err := addressOf(cfg)
	if err != nil {
		return nil, err
	}
	if err := checkHeader(cfg.Header); err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, values := range cfg.Header {
		for _, v := range values {
			header.Add(name, v)
		}
	}
	cfg.Header = header
	cfg.Timeout, cfg.Attempts = cmp.Or(cfg.Timeout, 30*time.Second), cmp.Or(cfg.Attempts, 8)
	s := &Sender{cfg: cfg, at: at, gzip: gzip.NewWriter(nil)}
	s.http.Transport = cfg.Transport
	if standard, ok := http.DefaultTransport.(*http.Transport); ok && cfg.Transport == nil {
		s.http.Transport = standard.Clone()
	}
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return s, nil
}

// Close closes idle connections.
func (s *Sender) Close() { s.http.CloseIdleConnections() }

// Send sends a request, in pieces if it must. The error is one sentence, and says why the rest of
// the spans was not sent; the result counts also then. The spans that a receiver drops are no error.
func (s *Sender) Send(ctx context.Context, r otlp.Request) (sum Result, err error) {
	for rest := [][]*tracepb.Span{r.Spans}; len(rest) > 0; {
		piece := r
		piece.Spans, rest = rest[0], rest[1:]
		if len(piece.Spans) == 0 {
			continue
		}
		a, err := s.deliver(ctx, piece)
		if err != nil {
			return sum, err
		}
		one := Result{Sent: len(piece.Spans)}
		switch half := len(piece.Spans) / 2; {
		case a.taken():
			if one.Dropped = a.rejected(len(piece.Spans)); one.Dropped > 0 {
				one.Sent, one.First = one.Sent-one.Dropped, a.words
			}
		case half > 0:
			rest = append([][]*tracepb.Span{piece.Spans[:half], piece.Spans[half:]}, rest...)
			continue
		default:
			one = Result{Dropped: 1, First: a.said()}
		}
		sum, s.all = sum.Plus(one), s.all.Plus(one)
		if s.all.Sent == 0 && s.all.Dropped >= hopeless && !a.taken() {
			return sum, fmt.Errorf("the receiver at %s takes no span (%s): compare the address and the headers with its documentation", s.public(), a.said())
		}
	}
	return sum, nil
}

// deliver sends a request until there is an answer of the receiver to it: that it took the request,
// or that the request must be divided.
func (s *Sender) deliver(ctx context.Context, r otlp.Request) (answer, error) {
	body, err := s.encode(r)
	if err != nil {
		return answer{}, err
	}
	for n := 1; ; n++ {
		a, err := s.post(ctx, body)
		why := a.said()
		switch {
		case ctx.Err() != nil:
			return a, s.ended(ctx)
		case err != nil:
			if why = s.plain(err); forever(err) {
				return a, fmt.Errorf("the receiver at %s is not what the address says (%s): is the port that for OTLP by HTTP, mostly 4318 and not 4317, and the certificate valid?", s.public(), why)
			}
		case !a.passing():
			return a, s.judge(a)
		}
		if n >= s.cfg.Attempts {
			return a, fmt.Errorf("the receiver at %s did not take the spans in %d attempts (%s): is it up? Try again later", s.public(), n, why)
		}
		wait := a.wait(n)
		if s.cfg.Waits != nil {
			s.cfg.Waits(why, wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return a, s.ended(ctx)
		}
	}
}

func (s *Sender) ended(ctx context.Context) error {
	return fmt.Errorf("not all spans were sent to %s (%w): send them again, which does no harm", s.public(), context.Cause(ctx))
}

// encode is the body of a request.
func (s *Sender) encode(r otlp.Request) ([]byte, error) {
	body, err := r.Proto()
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	s.gzip.Reset(&packed)
	if _, err = s.gzip.Write(body); err == nil {
		err = s.gzip.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress spans: %w", err)
	}
	return packed.Bytes(), nil
}

// mediaType is that of a request.
const mediaType = "application/x-protobuf"

// post sends a request once.
func (s *Sender) post(ctx context.Context, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Timeout, fmt.Errorf("no answer came within %v", s.cfg.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.at, bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("make the request: %w", err)
	}
	req.Header = s.cfg.Header.Clone()
	req.Header.Set("Content-Type", mediaType) // some receivers take no JSON
	req.Header.Set("Content-Encoding", "gzip")
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "tributary")
	}
	res, err := s.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return answer{}, err //nolint:wrapcheck // the caller makes the sentence
	}
	defer res.Body.Close()                                      //nolint:errcheck // nothing was written
	said, _ := io.ReadAll(io.LimitReader(res.Body, mostAnswer)) // the status says whether the spans were taken
	return read(res, said, s.hide), nil
}

// plain is a fault of the network in words.
func (s *Sender) plain(err error) string {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the address is in the sentence already
	}
	text := err.Error()
	if strings.Contains(text, notHTTP) {
		text = "no answer by HTTP" // the bytes say nothing to a person
	}
	return s.hide(words(text))
}

// notHTTP is what the standard library says of another protocol, such as gRPC on port 4317.
const notHTTP = "malformed HTTP"

// forever reports whether trying again is in vain.
func forever(err error) bool {
	_, is := errors.AsType[*tls.CertificateVerificationError](err)
	_, other := errors.AsType[tls.RecordHeaderError](err)
	return is || other || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") || strings.Contains(err.Error(), notHTTP)
}

func (s *Sender) public() string { return address.Public(s.at) }

// hide leaves out the keys of the address and of the headers, which receivers may repeat.
func (s *Sender) hide(text string) string {
	const shortest = 8 // shorter values are words of every sentence
	text = address.Redact(text, s.at)
	for _, values := range s.cfg.Header {
		for _, v := range values {
			for _, secret := range append([]string{v}, strings.Fields(v)...) {
				if len(secret) >= shortest {
					text = strings.ReplaceAll(text, secret, "…")
				}
			}
		}
	}
	return text
}
