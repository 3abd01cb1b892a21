package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/sse"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// of is the path of a route of a session.
func of(session string, rest ...string) string {
	path := []string{"/api/sessions", url.PathEscape(session)}
	for _, part := range rest {
		path = append(path, url.PathEscape(part))
	}
	return strings.Join(path, "/")
}

// history yields the records of a session that are in the log.
func (g remote) history(ctx context.Context, session string) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		const lines = "application/x-ndjson" // the gateway would follow the session if the header named an event stream
		stream, err := g.Stream(ctx, httpjson.Call{Method: "GET", Path: of(session, "trace"), Types: []string{lines}, Header: http.Header{"Accept": {lines}}})
		if err != nil {
			yield(trace.Record{}, g.plain(err))
			return
		}
		defer stream.Close() //nolint:errcheck // nothing was written
		in := bufio.NewReaderSize(stream, 64<<10)
		for {
			line, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return
			}
			var r trace.Record
			switch {
			case err != nil:
				err = fmt.Errorf("the gateway at %s broke the answer off: try again", g.url)
			case json.Unmarshal(line, &r) != nil:
				err = fmt.Errorf("the gateway at %s has a record that cannot be read: %w", g.url, json.Unmarshal(line, &r))
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// follow yields the records of a session behind a number, as they come, until ctx ends.
func (g remote) follow(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		query := url.Values{"deltas": {"1"}, "after": {strconv.FormatUint(after, 10)}}
		stream, err := g.Stream(ctx, httpjson.Call{Method: "GET", Path: of(session, "trace"), Query: query})
		if err != nil {
			yield(trace.Record{}, g.plain(err))
			return
		}
		defer stream.Close() //nolint:errcheck // nothing was written
		for event, err := range sse.NewReader(stream, 0).All() {
			var r trace.Record
			if err == nil {
				err = json.Unmarshal(event.Data, &r)
			}
			var last struct{ Error string }
			if err == nil && r.Payload == nil && json.Unmarshal(event.Data, &last) == nil && last.Error != "" {
				err = errors.New(sentenceOf(last.Error))
			}
			if ctx.Err() != nil || !yield(r, err) || err != nil {
				return
			}
		}
		if ctx.Err() == nil {
			yield(trace.Record{}, fmt.Errorf("the gateway at %s ended the stream: does it still run?", g.url))
		}
	}
}

// remoteAnswers answers in a session of a gateway.
type remoteAnswers struct {
	remote

	session string
}

func (d remoteAnswers) permit(ctx context.Context, request string, c session.Choice) error {
	in := map[string]any{}
	if c.Option != "" {
		in["option"] = c.Option
	} else {
		in["approved"] = c.Approved
	}
	if c.Reason != "" {
		in["reason"] = c.Reason
	}
	err := d.Do(ctx, httpjson.Call{Method: "POST", Path: of(d.session, "permissions", request), In: in})
	if failed, ok := errors.AsType[*httpjson.Error](err); ok && failed.Status == http.StatusBadRequest {
		return wrongChoiceError{failed.Message}
	}
	return d.unlessOver(err)
}

func (d remoteAnswers) answer(ctx context.Context, question string, values []string) error {
	return d.unlessOver(d.Do(ctx, httpjson.Call{Method: "POST", Path: of(d.session, "questions", question), In: map[string]any{"value": values}}))
}

// nobody answers in the name of the token: only the gateway itself could say that nobody is there.
func (d remoteAnswers) nobody(ctx context.Context, request string, question bool) error {
	if question {
		return d.answer(ctx, request, []string{unanswered})
	}
	no := false
	return d.permit(ctx, request, session.Choice{Approved: &no, Reason: unasked})
}

// unlessOver drops the error of an answer to a request that is over.
func (d remoteAnswers) unlessOver(err error) error {
	failed, ok := errors.AsType[*httpjson.Error](err)
	if err == nil || ok && (failed.Status == http.StatusConflict || failed.Status == http.StatusNotFound) {
		return nil
	}
	return d.plain(err)
}
