package otlp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// This file writes OTLP as JSON: the mapping of protobuf, but ids are hexadecimal.

type object = map[string]any

// JSON is the request as one line of JSON, without a newline. Keys are in the order of the
// alphabet, so that the same spans give the same bytes.
func (r Request) JSON() ([]byte, error) {
	spans := make([]object, len(r.Spans))
	for i, s := range r.Spans {
		spans[i] = s.object()
	}
	all := object{"resourceSpans": []object{{
		"resource":   object{"attributes": attributes(r.Resource)},
		"scopeSpans": []object{{"scope": object{"name": r.Scope, "version": r.ScopeVersion}, "spans": spans}},
	}}}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		return nil, fmt.Errorf("write spans as JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (s Span) object() object {
	o := object{
		"traceId": hex.EncodeToString(s.Trace[:]), "spanId": hex.EncodeToString(s.ID[:]), "name": s.Name, "kind": s.Kind,
		"startTimeUnixNano": decimal(s.Start), "endTimeUnixNano": decimal(s.End), "attributes": attributes(s.Attrs),
	}
	if s.Parent != (SpanID{}) {
		o["parentSpanId"] = hex.EncodeToString(s.Parent[:])
	}
	if s.Error {
		status := object{"code": StatusError}
		if s.ErrorMessage != "" {
			status["message"] = s.ErrorMessage
		}
		o["status"] = status
	}
	var events, links []object
	for _, e := range s.Events {
		events = append(events, object{"timeUnixNano": decimal(e.Time), "name": e.Name, "attributes": attributes(e.Attrs)})
	}
	for _, l := range s.Links {
		links = append(links, object{"traceId": hex.EncodeToString(l.Trace[:]), "spanId": hex.EncodeToString(l.ID[:])})
	}
	if events != nil {
		o["events"] = events
	}
	if links != nil {
		o["links"] = links
	}
	return o
}

func attributes(all []Attr) []object {
	list := make([]object, len(all))
	for i, a := range all {
		list[i] = object{"key": a.Key, "value": value(a.Value)}
	}
	return list
}

func value(v any) object {
	switch v := v.(type) {
	case bool:
		return object{"boolValue": v}
	case int64:
		return object{"intValue": strconv.FormatInt(v, 10)}
	case float64:
		return object{"doubleValue": v}
	case []string:
		list := make([]object, len(v))
		for i, s := range v {
			list[i] = value(s)
		}
		return object{"arrayValue": object{"values": list}}
	case string:
		return object{"stringValue": v}
	default: // Validate refuses it
		return object{}
	}
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
