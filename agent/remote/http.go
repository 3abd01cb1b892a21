package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/sse"
)

// HTTP is a Transport by HTTP. Streams are server-sent events, or JSON lines where Lines
// allows them.
type HTTP struct {
	Client *httpjson.Client
	// PassCaller sends the token of the person in whose name a call is made. A call of the
	// gateway itself, and of a person without a token, has the Client's own.
	PassCaller bool
	// Lines allows streams of JSON lines.
	Lines bool
	// Types are further media types of server-sent events: clients of some protocols do not
	// look at the type, so some servers give another one.
	Types []string
}

var _ Transport = HTTP{}

// lineTypes are the media types of JSON lines.
func lineTypes() []string {
	return []string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/json", "text/plain"}
}

func (t HTTP) call(c Call, by agent.Caller) httpjson.Call {
	h := caller(by, t.PassCaller)
	for name, value := range c.Header {
		if h.Get(name) == "" {
			h.Set(name, value)
		}
	}
	out := httpjson.Call{Method: c.Method, Path: c.Path, Query: c.Query, Header: h}
	if c.Body != nil {
		out.In = c.Body
	}
	return out
}

// caller is the header of a request in somebody's name, with their own token if pass says so.
func caller(by agent.Caller, pass bool) http.Header {
	h := http.Header{}
	if pass && by.Bearer != "" {
		h.Set("Authorization", "Bearer "+by.Bearer)
	}
	if by.Traceparent != "" {
		h.Set("Traceparent", by.Traceparent)
	}
	return h
}

// Do implements Transport.
func (t HTTP) Do(ctx context.Context, c Call, by agent.Caller) (json.RawMessage, error) {
	var answer json.RawMessage
	call := t.call(c, by)
	call.Out = &answer
	return answer, t.Client.Do(ctx, call)
}

// Stream implements Transport.
func (t HTTP) Stream(ctx context.Context, c Call, by agent.Caller) (Stream, error) {
	call := t.call(c, by)
	call.Types = t.Types
	if t.Lines {
		call.Types = lineTypes()
	}
	body, err := t.Client.Stream(ctx, call)
	if err != nil {
		return nil, err
	}
	if t.Lines && !strings.HasPrefix(body.Type, "text/event-stream") {
		return lines{body}, nil
	}
	return events{body}, nil
}

// Close implements Transport.
func (t HTTP) Close() { t.Client.Close() }

// events is a stream of server-sent events.
type events struct{ body io.ReadCloser }

// Close implements Stream.
func (e events) Close() { _ = e.body.Close() }

// Events implements Stream.
func (e events) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var head beginning
		for got, err := range sse.NewReader(io.TeeReader(e.body, &head), 0).All() {
			head.events++
			if !yield(Event{Name: cmp.Or(got.Name, Unnamed), ID: got.ID, Data: asJSON(got.Data)}, err) {
				return
			}
		}
		if line := head.foreign(); line != "" {
			yield(Event{}, foreignError{line})
		}
	}
}

// lines is a stream of JSON lines.
type lines struct{ body io.ReadCloser }

// Close implements Stream.
func (l lines) Close() { _ = l.body.Close() }

// Events implements Stream.
func (l lines) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		in := bufio.NewScanner(l.body)
		in.Buffer(nil, sse.DefaultMax)
		for in.Scan() {
			if line := bytes.TrimSpace(in.Bytes()); len(line) > 0 && !yield(Event{Name: Unnamed, Data: asJSON(bytes.Clone(line))}, nil) {
				return
			}
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the stream is broken: a line is larger than %d bytes", sse.DefaultMax)
		}
		if err != nil {
			yield(Event{}, err)
		}
	}
}

// Refused reports whether a server has answered a call with one of the statuses; with any of
// 4xx if none are named.
func Refused(err error, statuses ...int) bool {
	refused, ok := errors.AsType[*httpjson.Error](err)
	return ok && (slices.Contains(statuses, refused.Status) || len(statuses) == 0 && refused.Status/100 == 4)
}

// asJSON returns JSON as it is and other text as a JSON string.
func asJSON(text []byte) json.RawMessage {
	if json.Valid(text) {
		return text
	}
	return agentkit.Encode(string(text))
}
