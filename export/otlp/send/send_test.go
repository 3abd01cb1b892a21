package send_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/otlptest"
	"github.com/tributary-dev/tributary/export/otlp/send"
)

const somewhere = "https://receiver.example/v1/traces"

// spans is a request with n spans, named span-0, span-1 …
func spans(n int) (r otlp.Request) {
	for i := range n {
		s := &tracepb.Span{Name: fmt.Sprintf("span-%d", i), Kind: tracepb.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: 1, EndTimeUnixNano: 2, Attributes: []*commonpb.KeyValue{attribute("session.id", "s")}}
		s.TraceId, s.SpanId = append([]byte{1}, make([]byte, 15)...), []byte{byte(i >> 8), byte(i), 0, 0, 0, 0, 0, 1}
		r.Spans = append(r.Spans, s)
	}
	return r
}

func attribute(key, text string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: text}}}
}

func sender(t *testing.T, c send.Config) *send.Sender {
	t.Helper()
	if c.URL == "" {
		c.URL = somewhere
	}
	s, err := send.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// status answers with a status, a content type and a body.
func status(code int, kind, body string) func(int, http.ResponseWriter, *http.Request) bool {
	return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return true
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	var got http.Header
	r := &otlptest.Receiver{Answer: func(_ int, _ http.ResponseWriter, req *http.Request) bool {
		got = req.Header
		return false
	}}
	header := http.Header{"authorization": {"Basic abc"}, "X-Langfuse-Ingestion-Version": {"4"}}
	result, err := sender(t, send.Config{Transport: r, Header: header}).Send(t.Context(), spans(3))
	if err != nil || result != (send.Result{Sent: 3}) || len(r.Spans()) != 3 || r.Faults() != nil {
		t.Errorf("%+v %v %v", result, err, r.Faults())
	}
	if got.Get("Content-Type") != "application/x-protobuf" || got.Get("Content-Encoding") != "gzip" || got.Get("Authorization") != "Basic abc" || got.Get("X-Langfuse-Ingestion-Version") != "4" {
		t.Errorf("%v", got)
	}
}

// One span that the receiver does not take costs no other.
//
//evidence:for ops-spans-once
func TestBadSpans(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 422} {
		bad := map[string]bool{"span-17": true, "span-300": true}
		r := &otlptest.Receiver{Refuse: func(s otlptest.Span) string {
			if bad[s.Name] {
				return "the time is\n  no time"
			}
			return ""
		}}
		transport := http.RoundTripper(r)
		if code != 400 {
			transport = changed{r, code}
		}
		result, err := sender(t, send.Config{Transport: transport}).Send(t.Context(), spans(500))
		want := fmt.Sprintf("status %d: The entire export was rejected and no spans were ingested: spans[0]: the time is no time", code)
		if err != nil || result != (send.Result{Sent: 498, Dropped: 2, First: want}) || len(r.Spans()) != 498 {
			t.Errorf("%+v %v", result, err)
		}
		if n := r.Requests(); n > 40 {
			t.Errorf("%d requests for two of 500 spans", n)
		}
	}
}

// changed answers with another status in the place of 400.
type changed struct {
	http.RoundTripper

	code int
}

func (c changed) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(req)
	if err == nil && res.StatusCode == http.StatusBadRequest {
		res.StatusCode = c.code
	}
	return res, err
}

// A receiver that takes nothing is an error after a few spans, and not a thousand requests.
func TestNothingIsTaken(t *testing.T) {
	t.Parallel()
	r := &otlptest.Receiver{}
	s := sender(t, send.Config{Transport: r, Header: http.Header{"X-Langfuse-Ingestion-Version": {"5"}}})
	result, err := s.Send(t.Context(), spans(500))
	if err == nil || !strings.Contains(err.Error(), "takes no span (status 400: Invalid ingestion version): compare the address and the headers") || result.Sent != 0 || r.Requests() > 60 {
		t.Errorf("%+v %v after %d requests", result, err, r.Requests())
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	r := &otlptest.Receiver{Most: 2000}
	request := spans(100)
	request.Spans[40].Attributes = append(request.Spans[40].Attributes, attribute("text", strings.Repeat("x", 3000)))
	result, err := sender(t, send.Config{Transport: r}).Send(t.Context(), request)
	if err != nil || result.Sent != 99 || result.Dropped != 1 || !strings.HasPrefix(result.First, "status 413: the body has 3") || len(r.Spans()) != 99 {
		t.Errorf("%+v %v", result, err)
	}
}

func TestTakenInPart(t *testing.T) {
	t.Parallel()
	r := &otlptest.Receiver{Reject: func(s otlptest.Span) string {
		if strings.HasSuffix(s.Name, "7") {
			return s.Name + " is older than a year"
		}
		return ""
	}}
	result, err := sender(t, send.Config{Transport: r}).Send(t.Context(), spans(20))
	if err != nil || result != (send.Result{Sent: 18, Dropped: 2, First: "span-7 is older than a year"}) || r.Requests() != 1 {
		t.Errorf("%+v %v", result, err)
	}
	for _, c := range []struct {
		kind, body string
		dropped    int
	}{
		{"application/json", `{"partialSuccess":{"rejectedSpans":2}}`, 2},
		{"application/json; charset=utf-8", `{"partialSuccess":{"rejectedSpans":"99"}}`, 3}, // more than were sent
		{"application/json", `{"partialSuccess":{"rejectedSpans":-1}}`, 0},
		{"application/json", `{"partialSuccess":{}}`, 0},
		{"application/json", `no JSON`, 0},
		{"application/x-protobuf", "\x0a\x02\x08\x01", 1},
		{"application/x-protobuf", "\x0a\x05\x08", 0}, // it is cut
		{"text/plain", "ok", 0},
		{"", "", 0},
	} {
		s := sender(t, send.Config{Transport: &otlptest.Receiver{Answer: status(200, c.kind, c.body)}})
		if result, err := s.Send(t.Context(), spans(3)); err != nil || result.Dropped != c.dropped || result.Sent != 3-c.dropped {
			t.Errorf("%s %q: %+v %v", c.kind, c.body, result, err)
		}
	}
}

// What may pass by itself is tried again, after the time that the receiver asks for.
func TestTriesAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		code     int
		after    string
		failures int
		want     time.Duration
	}{
		{"too many", 429, "7", 1, 7 * time.Second},
		{"half a second", 429, "0.5", 2, time.Second},
		{"at a time", 503, "Sat, 01 Jan 2000 00:01:00 GMT", 1, time.Minute},
		{"longer than is waited", 503, "86400", 2, 10 * time.Minute},
		{"in another century", 503, "Fri, 01 Jan 2100 00:00:00 GMT", 1, 5 * time.Minute},
		{"more seconds than a clock has", 503, "1e300", 1, 5 * time.Minute},
		{"a word", 502, "soon", 3, 7 * time.Second},
		{"growing", 504, "", 7, (1 + 2 + 4 + 8 + 16 + 32 + 60) * time.Second},
		{"the network", 0, "", 3, 7 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &otlptest.Receiver{Answer: func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n > c.failures || c.code == 0 {
					return false
				}
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.code)
				return true
			}}
			transport := http.RoundTripper(r)
			if c.code == 0 {
				transport = &broken{to: r, times: c.failures}
			}
			var waited time.Duration
			begin := time.Now()
			result, err := sender(t, send.Config{Transport: transport, Waits: func(_ string, d time.Duration) { waited += d }}).Send(t.Context(), spans(2))
			if took := time.Since(begin); err != nil || result.Sent != 2 || took != c.want || waited != took {
				t.Errorf("%s: %+v %v after %v of waiting %v, want %v", c.name, result, err, took, waited, c.want)
			}
		})
	}
}

// broken loses connections.
type broken struct {
	to    http.RoundTripper
	times int
}

func (b *broken) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.times--; b.times >= 0 {
		return nil, errors.New("connection reset by peer")
	}
	return b.to.RoundTrip(req)
}

// silent answers nothing until a request is given up.
type silent struct{ requests int }

func (s *silent) RoundTrip(req *http.Request) (*http.Response, error) {
	s.requests++
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nobody := &silent{}
		begin := time.Now()
		_, err := sender(t, send.Config{Transport: nobody, Attempts: 3}).Send(t.Context(), spans(1))
		if err == nil || err.Error() != "the receiver at "+somewhere+" did not take the spans in 3 attempts (no answer came within 30s): is it up? Try again later" || nobody.requests != 3 || time.Since(begin) != 93*time.Second {
			t.Errorf("%v after %d requests in %v", err, nobody.requests, time.Since(begin))
		}
	})
	synctest.Test(t, func(t *testing.T) { // the end comes during a wait, and during a request
		for _, transport := range []http.RoundTripper{&otlptest.Receiver{Answer: status(503, "text/plain", "busy")}, &silent{}} {
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
			begin := time.Now()
			_, err := sender(t, send.Config{Transport: transport}).Send(ctx, spans(1))
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 2500*time.Millisecond {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
			cancel()
		}
	})
}

// Spans that arrived before an error count.
func TestCountsBeforeAnError(t *testing.T) {
	t.Parallel()
	r := &otlptest.Receiver{Most: 2000, Answer: func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n >= 4 {
			w.WriteHeader(http.StatusForbidden)
		}
		return n >= 4
	}}
	result, err := sender(t, send.Config{Transport: r}).Send(t.Context(), spans(100))
	if err == nil || result.Sent == 0 || result.Sent != len(r.Spans()) {
		t.Errorf("%+v %v, %d rows", result, err, len(r.Spans()))
	}
}

// All other answers end it at once, with a sentence that says what to do and has no key in it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const key, query = "Basic c2VjcmV0LWtleQ==", "token=query-secret"
	for _, c := range []struct {
		code             int
		kind, body, want string
	}{
		{401, "application/json", `{"message":"Invalid credentials"}`, "does not accept the key (status 401: Invalid credentials): set the header that it wants, such as Authorization, to a valid one"},
		{401, "application/json", `{"error":{"message":"no such key: c2VjcmV0LWtleQ=="}}`, "(status 401: no such key: …)"},
		{403, "text/plain", "quota\x1b[31m of " + query + "\n", "(status 403: quota [31m of …)"},
		{404, "text/html", "<html>nothing</html>", "nothing takes spans (status 404): look up the receiver's address, which mostly ends in /v1/traces"},
		{405, "application/json", `{"detail":"Method Not Allowed"}`, "(status 405: Method Not Allowed)"},
		{415, "text/plain", "Unsupported content type", "does not take application/x-protobuf (status 415: Unsupported content type)"},
		{500, "application/x-protobuf", "\x12\x04full", "failed (status 500: full): look into its log"},
		{402, "text/plain", strings.Repeat("pay ", 500), "…): look up the status in its documentation"},
		{302, "text/html", "", "sends the request on to https://receiver.example/login (status 302): if that is the receiver, use its address"},
		{200, "", "\n<!DOCTYPE html>", "answers with a page for a browser and is no receiver"},
		{200, "text/html; charset=utf-8", "<html>", "answers with a page for a browser and is no receiver"},
	} {
		r := &otlptest.Receiver{Answer: func(n int, w http.ResponseWriter, req *http.Request) bool {
			if c.code == 302 {
				w.Header().Set("Location", "/login?back=query-secret")
			}
			return status(c.code, c.kind, c.body)(n, w, req)
		}}
		result, err := sender(t, send.Config{URL: somewhere + "?" + query, Transport: r, Header: http.Header{"Authorization": {key}}}).Send(t.Context(), spans(3))
		switch {
		case err == nil || !strings.Contains(err.Error(), c.want) || result.Sent != 0 || r.Requests() != 1:
			t.Errorf("%d: %v after %d requests, want %q", c.code, err, r.Requests(), c.want)
		case strings.Contains(err.Error(), "c2Vj") || strings.Contains(err.Error(), "query-secret") || len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\n\x1b"):
			t.Errorf("%d: %q", c.code, err)
		}
	}
}

// endless is a body without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, strings.Repeat("a", len(p))), nil
}

func (e *endless) Close() error { return nil }

type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) { return a(req) }

func TestAnswersAreReadToABound(t *testing.T) {
	t.Parallel()
	body := &endless{}
	transport := answering(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Request: req}, nil
	})
	if result, err := sender(t, send.Config{Transport: transport}).Send(t.Context(), spans(1)); err != nil || result.Sent != 1 || body.read > 100<<10 {
		t.Errorf("%+v %v, %d bytes", result, err, body.read)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, at, want string }{
		{url: "https://cloud.example/api/public/otel", at: "https://cloud.example/api/public/otel/v1/traces"},
		{url: "https://cloud.example/api/public/otel/v1/traces", at: "https://cloud.example/api/public/otel/v1/traces"},
		{url: "https://intake.example/api/v0.2/traces?x=1#f", at: "https://intake.example/api/v0.2/traces?x=1"},
		{url: "http://127.0.0.1:6006", at: "http://127.0.0.1:6006/v1/traces"},
		{url: "http://[::1]:6006/", at: "http://[::1]:6006/v1/traces"},
		{url: "http://LocalHost:4318", at: "http://LocalHost:4318/v1/traces"},
		{url: "http://collector:4318", want: `the receiver http://collector:4318 is on another machine`},
		{url: "http://127.0.0.1.example/", want: "is on another machine"},
		{url: "https://ann:secret@cloud.example/", want: "the receiver https://cloud.example/ has a password in it"},
		{url: "cloud.example", want: `"cloud.example" is no address of a receiver: write one such as https://`},
		{url: "grpc://cloud.example:4317", want: "is no address of a receiver"},
		{url: "https://", want: "is no address of a receiver"},
		{url: ":", want: "is no address of a receiver"},
	} {
		at := ""
		transport := answering(func(req *http.Request) (*http.Response, error) {
			at = req.URL.String()
			return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req}, nil
		})
		s, err := send.New(send.Config{URL: c.url, Transport: transport})
		if err == nil {
			_, err = s.Send(t.Context(), spans(1))
		}
		if at != c.at || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q %v", c.url, at, err)
		}
	}
	if _, err := send.New(send.Config{URL: "http://collector:4318", AllowHTTP: true}); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ name, value, want string }{
		{"X Y", "v", "no name of a header"},
		{"", "v", "no name of a header"},
		{"content-type", "v", "the program sets the header content-type itself"},
		{"Authorization", "Bearer secret\n", "the header Authorization has a line break"},
	} {
		if _, err := send.New(send.Config{URL: somewhere, Header: http.Header{c.name: {c.value}}}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", c.name, err)
		}
	}
}

// A server that is not who it says, or that speaks no TLS or no HTTP, is not asked again.
func TestNobodyToTrust(t *testing.T) {
	t.Parallel()
	requests := 0
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ })
	plain, unknown := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	unknown.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(unknown.Close)
	grpc := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Write([]byte("\x00\x00\x18\x04\x00\x00\x00\x00\x00\r\n\r\n"))
		_ = conn.Close()
	}))
	t.Cleanup(grpc.Close)
	for _, url := range []string{grpc.URL, "https" + strings.TrimPrefix(plain.URL, "http"), unknown.URL} {
		_, err := sender(t, send.Config{URL: url, Waits: func(why string, _ time.Duration) { t.Errorf("%s: it waits: %s", url, why) }, Attempts: 2}).Send(t.Context(), spans(1))
		if err == nil || !strings.Contains(err.Error(), "is not what the address says (") || requests > 0 {
			t.Errorf("%s: %v", url, err)
		}
	}
}
