package otlp

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file writes OTLP as protobuf. The numbers of the fields are those of
// opentelemetry/proto/{trace,common,resource}/v1.

// Proto is the request as protobuf: the message TracesData, which is also ExportTraceServiceRequest.
// Requests one behind the other are one request.
func (r Request) Proto() []byte {
	resource := attrs(nil, 1, r.Resource)
	scope := text(text(nil, 1, r.Scope), 2, r.ScopeVersion)
	spans := message(nil, 1, scope)
	for _, s := range r.Spans {
		spans = message(spans, 2, s.proto())
	}
	return message(nil, 1, message(message(nil, 1, resource), 2, spans))
}

func (s Span) proto() []byte {
	b := message(nil, 1, s.Trace[:])
	b = message(b, 2, s.ID[:])
	if s.Parent != (SpanID{}) {
		b = message(b, 4, s.Parent[:])
	}
	b = text(b, 5, s.Name)
	b = number(b, 6, uint64(s.Kind)) //nolint:gosec // one of the kinds above
	b = fixed(b, 7, s.Start)
	b = fixed(b, 8, s.End)
	b = attrs(b, 9, s.Attrs)
	for _, e := range s.Events {
		b = message(b, 11, attrs(text(fixed(nil, 1, e.Time), 2, e.Name), 3, e.Attrs))
	}
	for _, l := range s.Links {
		b = message(b, 13, message(message(nil, 1, l.Trace[:]), 2, l.ID[:]))
	}
	if s.Error {
		b = message(b, 15, number(text(nil, 2, s.ErrorMessage), 3, StatusError))
	}
	return b
}

func attrs(b []byte, field protowire.Number, all []Attr) []byte {
	for _, a := range all {
		b = message(b, field, message(text(nil, 1, a.Key), 2, anyValue(a.Value)))
	}
	return b
}

// anyValue is the message AnyValue, in which a value is there also if it is zero.
func anyValue(v any) []byte {
	switch v := v.(type) {
	case string:
		return message(nil, 1, []byte(v))
	case bool:
		return protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), protowire.EncodeBool(v))
	case int64:
		return protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), uint64(v)) //nolint:gosec // as protobuf has it
	case float64:
		return protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), math.Float64bits(v))
	case []string:
		var list []byte
		for _, s := range v {
			list = message(list, 1, anyValue(s))
		}
		return message(nil, 5, list)
	default: // Validate refuses it
		return nil
	}
}

func message(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}

func text(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func fixed(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), n)
}
