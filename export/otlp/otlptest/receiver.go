// Package otlptest has a receiver of OTLP by HTTP for tests, with the rules of Langfuse. It decodes
// with the official messages of OpenTelemetry, and knows nothing of the package that it tests.
package otlptest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Receiver is an http.Handler, and a RoundTripper whose requests need no network. Langfuse's rules
// are those of its version 4:
//
//   - A body is protobuf or JSON, with gzip or without. Another content type is 400.
//   - A version of ingestion above 4, or that is no number, is 400.
//   - One span without ids makes 400 of the whole request, and so does a list that is none.
//   - A span that came before with the same start takes the place of the other. With another start
//     it is another row, and a fault.
//   - A span without session.id, a span that ends before it begins, and a permission with a key of
//     tools are faults too.
//
// Its zero value takes everything else.
type Receiver struct {
	// Most bounds a body in bytes, before compression; 0 is no bound. A larger one is 413.
	Most int
	// Answer, if set, may answer the request with this number, from 1 on, instead of the rules.
	Answer func(n int, w http.ResponseWriter, r *http.Request) bool
	// Refuse, if set, says why a span makes 400 of the whole request, or "".
	Refuse func(Span) string
	// Reject, if set, says why a span is not taken of a request that is, or "".
	Reject func(Span) string

	mu       sync.Mutex
	requests int
	rows     map[string]Span
	faults   []string
}

// Span is a span as the receiver reads it. Ids are hexadecimal.
type Span struct {
	Trace, ID, Parent, Name string
	Start, End              uint64
	Attrs                   map[string]any // string, bool, int64, float64 or []any
}

// Requests is how many requests came.
func (r *Receiver) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// Spans are the rows.
func (r *Receiver) Spans() (all []Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.rows {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Span) int { return strings.Compare(a.Trace+a.ID, b.Trace+b.ID) })
	return all
}

// Faults are what Langfuse would take and show wrong.
func (r *Receiver) Faults() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.faults)
}

// RoundTrip implements http.RoundTripper.
func (r *Receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if req.Body != nil {
		_ = req.Body.Close()
	}
	res := w.Result()
	res.Request = req
	return res, req.Context().Err()
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	if r.Answer != nil && r.Answer(r.requests, w, req) {
		return
	}
	if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/v1/traces") {
		say(w, http.StatusNotFound, "there is nothing here")
		return
	}
	spans, status, why := r.read(req)
	if status != http.StatusOK {
		say(w, status, why)
		return
	}
	rejected, first := 0, ""
	for _, s := range spans {
		if r.Reject != nil {
			if why := r.Reject(s); why != "" {
				if rejected++; first == "" {
					first = why
				}
				continue
			}
		}
		r.take(s)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	if rejected > 0 {
		_, _ = w.Write(partial(rejected, first))
	}
}

func say(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": why})
}

// read returns the spans, or the status and the reason of a refusal.
func (r *Receiver) read(req *http.Request) (all []Span, status int, why string) {
	if v := req.Header.Get("X-Langfuse-Ingestion-Version"); v != "" {
		if n, err := strconv.Atoi(v); err != nil || n > 4 {
			return nil, http.StatusBadRequest, "Invalid ingestion version"
		}
	}
	var in io.Reader = req.Body
	switch req.Header.Get("Content-Encoding") {
	case "":
	case "gzip":
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, http.StatusBadRequest, "the body is no gzip"
		}
		in = unpacked
	default:
		return nil, http.StatusBadRequest, "the encoding is unknown"
	}
	body, err := io.ReadAll(in)
	switch {
	case err != nil:
		return nil, http.StatusBadRequest, "the body is not complete"
	case r.Most > 0 && len(body) > r.Most:
		return nil, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has %d bytes of %d", len(body), r.Most)
	}
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if kind != "application/x-protobuf" && kind != "application/json" {
		return nil, http.StatusBadRequest, "Unsupported content type"
	}
	decoded, err := Decode(body, kind == "application/json")
	if err != nil {
		return nil, http.StatusBadRequest, err.Error()
	}
	all = spans(decoded)
	for i, s := range all {
		why := ""
		switch {
		case len(s.Trace) != 32 || strings.Trim(s.Trace, "0") == "":
			why = "traceId is missing"
		case len(s.ID) != 16 || strings.Trim(s.ID, "0") == "":
			why = "spanId is missing"
		case r.Refuse != nil:
			why = r.Refuse(s)
		}
		if why != "" {
			return nil, http.StatusBadRequest, fmt.Sprintf("The entire export was rejected and no spans were ingested: spans[%d]: %s", i, why)
		}
	}
	return all, http.StatusOK, ""
}

// take makes a row of a span.
func (r *Receiver) take(s Span) {
	fault := func(why string) {
		r.faults = append(r.faults, fmt.Sprintf("the span %s of the trace %s, %s: %s", s.ID, s.Trace, s.Name, why))
	}
	if r.rows == nil {
		r.rows = map[string]Span{}
	}
	key := s.Trace + " " + s.ID
	if before, is := r.rows[key]; is && before.Start != s.Start {
		fault("it came before with another start, and is there twice")
		key += fmt.Sprintf(" %d", s.Start)
	}
	r.rows[key] = s
	session, _ := s.Attrs["session.id"].(string)
	switch {
	case session == "" || len(session) > 200:
		fault("it has no session that is taken")
	case s.Start > s.End:
		fault("it ends before it begins")
	case s.Name == "":
		fault("it has no name")
	}
	if s.Name == "permission" {
		for name := range s.Attrs {
			if strings.Contains(name, "tool") {
				fault(name + " makes a used tool of it")
			}
		}
	}
}

// Decode reads a body as the official messages.
func Decode(body []byte, asJSON bool) (*tracepb.TracesData, error) {
	in := &tracepb.TracesData{} // the same bytes as ExportTraceServiceRequest
	if !asJSON {
		if err := proto.Unmarshal(body, in); err != nil {
			return nil, fmt.Errorf("the body is no protobuf: %w", err)
		}
		return in, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	err := d.Decode(&v)
	if err == nil {
		err = base64IDs(v)
	}
	if err == nil {
		body, err = json.Marshal(v)
	}
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, in)
	}
	if err != nil {
		return nil, fmt.Errorf("the body is no OTLP as JSON: %w", err)
	}
	return in, nil
}

// base64IDs writes hexadecimal ids as the mapping of protobuf has them.
func base64IDs(v any) error {
	var all error
	switch v := v.(type) {
	case map[string]any:
		for key, one := range v {
			if s, is := one.(string); is && slices.Contains([]string{"traceId", "spanId", "parentSpanId"}, key) {
				raw, err := hex.DecodeString(s)
				all = errors.Join(all, err)
				v[key] = base64.StdEncoding.EncodeToString(raw)
			}
			all = errors.Join(all, base64IDs(one))
		}
	case []any:
		for _, one := range v {
			all = errors.Join(all, base64IDs(one))
		}
	}
	return all
}

// spans are the spans of a request.
func spans(in *tracepb.TracesData) (all []Span) {
	for _, rs := range in.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				one := Span{
					Trace: fmt.Sprintf("%x", s.GetTraceId()), ID: fmt.Sprintf("%x", s.GetSpanId()), Parent: fmt.Sprintf("%x", s.GetParentSpanId()),
					Name: s.GetName(), Start: s.GetStartTimeUnixNano(), End: s.GetEndTimeUnixNano(), Attrs: map[string]any{},
				}
				for _, a := range s.GetAttributes() {
					one.Attrs[a.GetKey()] = Value(a.GetValue())
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// Value is a string, a bool, an int64, a float64, a []any, or nil.
func Value(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_ArrayValue:
		list := []any{}
		for _, one := range v.ArrayValue.GetValues() {
			list = append(list, Value(one))
		}
		return list
	}
	return nil
}

// partial is ExportTraceServiceResponse. Its official message would bring all of gRPC with it.
func partial(rejected int, why string) []byte {
	inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(rejected)) //nolint:gosec // not negative
	inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), why)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
}
