package otlp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Request is what one POST to a receiver holds: some spans of one turn. In a file it is one line.
type Request struct {
	Version string // of the program that made the spans
	Spans   []*tracepb.Span
}

// message is the message TracesData, which is also ExportTraceServiceRequest.
func (r Request) message() *tracepb.TracesData {
	var resource attrs
	resource.texts("service.name", "tributary", "service.version", r.Version)
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: resource},
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "tributary", Version: r.Version}, Spans: r.Spans}},
	}}}
}

// Proto is the request as protobuf. Requests one behind the other are one request.
func (r Request) Proto() ([]byte, error) {
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(r.message())
	if err != nil {
		return nil, fmt.Errorf("write spans as protobuf: %w", err)
	}
	return out, nil
}

// JSON is the request as one line of JSON, without a newline. Keys are in the order of the
// alphabet, so that the same spans give the same bytes.
func (r Request) JSON() ([]byte, error) {
	mapped, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(r.message())
	var all any
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(mapped))
		d.UseNumber()
		err = d.Decode(&all)
	}
	var b bytes.Buffer
	if err == nil {
		readable(all)
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err = e.Encode(all)
	}
	if err != nil {
		return nil, fmt.Errorf("write spans as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (r Request) line() ([]byte, error) {
	text, err := r.JSON()
	return append(text, '\n'), err
}

// readable writes ids in hexadecimal, as OTLP wants them, and the times of each span. The mapping of
// protobuf has ids in base64, and leaves out a time of 0.
func readable(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			readable(one)
		}
	case map[string]any:
		for _, key := range []string{"startTimeUnixNano", "endTimeUnixNano"} {
			if v["kind"] != nil && v[key] == nil {
				v[key] = "0"
			}
		}
		for key, one := range v {
			if text, is := one.(string); is && (key == "traceId" || key == "spanId" || key == "parentSpanId") {
				id, _ := base64.StdEncoding.DecodeString(text) // the mapping has written it
				v[key] = hex.EncodeToString(id)
			}
			readable(one)
		}
	}
}

// Validate returns an error for a request that a receiver would refuse, would drop in part, or
// would take for something else.
func (r Request) Validate() error {
	var all []error
	seen := map[string]bool{}
	for _, s := range r.Spans {
		keys := map[string]bool{}
		tool := false
		for _, a := range s.GetAttributes() {
			keys[a.GetKey()] = true
			tool = tool || strings.Contains(a.GetKey(), "tool")
		}
		id := string(s.GetSpanId())
		for _, fault := range []struct {
			is  bool
			why string
		}{
			{len(s.GetTraceId()) != 16 || len(id) != 8, "it has no id"},
			{seen[id], "its id is there twice"},
			{s.GetStartTimeUnixNano() > s.GetEndTimeUnixNano(), "it ends before it begins"},
			{s.GetName() == "", "it has no name"},
			{!keys["session.id"] || !keys["gen_ai.conversation.id"], "it has no session"},
			{s.GetName() == "permission" && tool, "a key with the word tool makes a used tool of it for some readers"},
		} {
			if fault.is {
				all = append(all, fmt.Errorf("the span %s: %s", s.GetName(), fault.why))
			}
		}
		seen[id] = true
	}
	return errors.Join(all...)
}

// hash is the SHA-256 of parts, which no part can imitate.
func hash(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x1f")))
	return sum[:]
}

// traceOf is the trace of a turn: the caller's if the caller gave a valid traceparent, which then
// also names the parent of the turn's span.
func traceOf(session, turn, traceparent string) (id, parent []byte) {
	form := regexp.MustCompile(`\A([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?s:(-.*)?)\z`) // W3C allows no capitals
	m := form.FindStringSubmatch(traceparent)
	if m == nil || m[1] == "ff" || m[1] == "00" && m[4] != "" || strings.Trim(m[2], "0") == "" || strings.Trim(m[3], "0") == "" {
		return hash("trace", session, turn)[:16], nil
	}
	id, _ = hex.DecodeString(m[2]) // the form says so
	parent, _ = hex.DecodeString(m[3])
	return id, parent
}

// attrs is a list of attributes that grows.
type attrs []*commonpb.KeyValue

func (l *attrs) add(key string, v *commonpb.AnyValue) {
	*l = append(*l, &commonpb.KeyValue{Key: key, Value: v})
}

// texts adds pairs of a key and a text. An empty text is unknown, and left out.
func (l *attrs) texts(pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			l.add(pairs[i], text(cut(clean(pairs[i+1]), mostAttr)))
		}
	}
}

// number adds a count. One of 0 is unknown, and left out.
func (l *attrs) number(key string, n int64) {
	if n != 0 {
		l.add(key, integer(n))
	}
}

// messages adds messages, unless there is nothing in them.
func (l *attrs) messages(key string, all ...said) {
	for _, one := range all {
		if len(one.Parts) > 0 {
			l.texts(key, encoded(all))
			return
		}
	}
}

func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func text(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func integer(n int64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
}

func float(f float64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: f}}
}

func list(all ...string) *commonpb.AnyValue {
	values := make([]*commonpb.AnyValue, len(all))
	for i, s := range all {
		values[i] = text(clean(s))
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: values}}}
}
