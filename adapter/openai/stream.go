package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/sse"
)

const (
	// maxStream bounds all bytes of an answer, and maxEvent those of one event.
	maxStream = 1 << 30
	maxEvent  = sse.DefaultMax
	// afterFinish is how long a stream may go on after the word for its end: usage comes there.
	afterFinish = 10 * time.Second
	// afterDone is how long the end of a stream may take that said that it is whole.
	afterDone = 100 * time.Millisecond
	// maxQuote bounds a quotation of what a server sent, in bytes.
	maxQuote = 200
)

// take takes an event of an answer, and reports whether its form is known.
type take func(name string, event raw, a *answer) (known bool, err error)

// listen makes a request and gives the events of its answer to take. An endpoint that is silent
// for too long ends the answer.
func (m *model) listen(ctx context.Context, path string, body object, a *answer, take take) error {
	limit := cmp.Or(time.Duration(m.Patience), 5*time.Minute)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(limit, func() { cancel(silentError{limit}) })
	defer silence.Stop()
	defer a.close()
	res, err := m.send(ctx, path, body)
	if err == nil {
		defer res.Body.Close() //nolint:errcheck // nothing was written
		err = readAnswer(res.Body, a, func(name string, event raw) error {
			err := a.event(name, event, take)
			silence.Reset(limit)
			if a.finish != "" {
				silence.Reset(min(limit, afterFinish))
			}
			return err
		})
		if err == nil && a.ended { // a connection serves a further call if its answer was read to the end
			silence.Reset(min(limit, afterDone))
			_, _ = io.CopyN(io.Discard, res.Body, maxQuote) //nolint:errcheck // the answer is whole
		}
	}
	return a.end(ctx, err)
}

// end says how the answer ended.
func (a *answer) end(ctx context.Context, err error) error {
	silent, isSilent := errors.AsType[silentError](context.Cause(ctx))
	f, isFailure := errors.AsType[*failure](err)
	whole := a.finish != "" || a.ended
	switch {
	case a.bound != nil:
		return a.bound
	case isFailure:
		f.late = a.spoken
		return f
	case ctx.Err() != nil && !isSilent:
		return cmp.Or(err, ctx.Err())
	case err != nil && !whole && isSilent:
		return silent
	case err != nil && !whole:
		return err
	case finishOf(a.finish) == failed:
		return &failure{message: fmt.Sprintf("the answer ended with %q", a.finish), late: a.spoken}
	case !whole:
		return errUnfinished
	case a.finish == "" && !a.spoken && len(a.calls) == 0:
		return errNothing
	}
	return nil // also if the connection broke behind the whole answer
}

// errDone ends the reading of an answer that said that it is whole.
var errDone = errors.New("the answer is whole")

// event takes one event. Servers report errors in many forms.
func (a *answer) event(name string, event raw, take take) error {
	text := bytes.TrimSpace(event)
	if string(text) == "[DONE]" {
		a.ended = true
		return errDone
	}
	if name == "error" && !json.Valid(text) {
		return &failure{message: quoted(text)}
	}
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	if !json.Valid(text) {
		return strangeError{quoted(text)}
	}
	if agentkit.TooManyValues(text) {
		return tooMuchError{"a very large number of JSON values"}
	}
	known, err := take(name, event, a)
	if err != nil || a.bound != nil {
		return cmp.Or(err, a.bound)
	}
	if f := failureIn(name, text, known); f != nil {
		return f
	}
	if !known && text[0] != '{' {
		return strangeError{quoted(text)}
	}
	return nil
}

// readAnswer gives the events of a stream, or of JSON values where a server does not stream.
func readAnswer(body io.Reader, a *answer, event func(string, raw) error) error {
	in := bufio.NewReader(&boundedReader{in: body, left: maxStream})
	begin, err := beginning(in)
	if err != nil {
		return err
	}
	if begin[0] == '{' || begin[0] == '[' {
		return readJSON(in, a, event)
	}
	if begin[0] == '<' {
		return errNotAnAPI
	}
	some := false
	for e, err := range sse.NewReader(in, maxEvent).All() {
		if err != nil {
			if tooLarge, ok := errors.AsType[sse.TooLargeError](err); ok {
				err = tooMuchError{fmt.Sprintf("more than %d MB in one event", tooLarge.Max>>20)}
			}
			return err
		}
		some = true
		if err := event(e.Name, e.Data); err != nil {
			return whenDone(err)
		}
	}
	if !some {
		return strangeError{quoted(begin)}
	}
	return nil
}

// beginning returns what is there of an answer, without white space in front.
func beginning(in *bufio.Reader) (text []byte, err error) {
	for {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return nil, errNothing
		} else if err != nil {
			return nil, err
		}
		there, err := in.Peek(in.Buffered())
		if err != nil {
			return nil, err
		}
		text := bytes.TrimLeft(there, " \t\r\n")
		if value, marked := bytes.CutPrefix(text, []byte("\uFEFF")); marked && bytes.HasPrefix(value, []byte("{")) {
			text = value
		}
		if len(text) > 0 {
			text = bytes.Clone(text)
			_, err := in.Discard(len(there) - len(text))
			return text, err
		}
		if _, err := in.Discard(len(there)); err != nil {
			return nil, err
		}
	}
}

// readJSON reads JSON values one after another: one whole answer, or its pieces.
func readJSON(in io.Reader, a *answer, event func(string, raw) error) error {
	values, first := json.NewDecoder(in), raw(nil)
	for n := 0; ; n++ {
		var value raw
		err := values.Decode(&value)
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			if a.ended = a.ended || n == 1 && a.spoken; !a.ended && !a.spoken && a.finish == "" {
				return strangeError{quoted(first)}
			}
			return nil
		case errors.As(err, &syntax):
			return strangeError{"JSON with an error: " + syntax.Error()}
		case err != nil:
			return err
		}
		several := []raw{value}
		if value[0] == '[' && !agentkit.TooManyValues(value) {
			several = nil
			_ = json.Unmarshal(value, &several) // a list is one
		}
		for _, one := range several {
			if err := event("", one); err != nil {
				return whenDone(err)
			}
		}
		if n == 0 {
			first = value[:min(len(value), maxQuote)]
		}
	}
}

func whenDone(err error) error {
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}

// boundedReader ends an answer that is too long.
type boundedReader struct {
	in   io.Reader
	left int64
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooMuchError{fmt.Sprintf("more than %d MB", maxStream>>20)}
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// quoted is the beginning of what a server sent, in one line.
func quoted(text []byte) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(text[:min(len(text), 2*maxQuote)]), "")), " ")
	if len(line) > maxQuote {
		line = strings.ToValidUTF8(line[:maxQuote], "") + "…"
	}
	return line
}
