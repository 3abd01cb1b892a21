// Package chatbody reads the body of a chat request, as the stock client posts it. The body
// may be large, because the client posts the whole history; the package keeps little of it.
package chatbody

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/trace"
)

const (
	// MaxBytes bounds a body. The stock client posts the whole history every time.
	MaxBytes = 512 << 20
	// maxKept bounds what is kept of one message.
	maxKept = 32 << 20
)

const (
	// maxDepth bounds the nesting of a POST.
	maxDepth = 100
	// maxNumber bounds the digits of a number, which is kept as it was sent.
	maxNumber = 1000
	// maxWord bounds an id and every other text that is one word of the request.
	maxWord = 64 << 10
)

// Request is what is kept of a POST of the AI SDK
// (DefaultChatTransport, or an app's own prepareSendMessagesRequest).
type Request struct {
	ID        string
	Trigger   string
	MessageID string
	Channel   string
	Agent     string
	// Last is the last message, whose role says what the POST means.
	LastRole string
	LastID   string
	// User is the last user message, if there is one.
	User *trace.UserMessage
	// LastAssistant is the id of the last assistant message.
	LastAssistant string

	// Shown are the requests that that message shows, answered or not; nil if none was posted.
	Shown       []string
	answers     []answeredMessage
	answersSize int
	// ran reports whether the last assistant message holds outputs of tools that its client
	// has run.
	ran bool
	// Option, Input and Interrupt go with the answer to a permission request, if
	// the POST answers just one that waits.
	Option    string
	Input     json.RawMessage
	Interrupt bool
}

// The values of Request.Trigger.
const (
	submit     = "submit-message"
	regenerate = "regenerate-message"
)

// Read reads a body as a stream of tokens: of a message it holds one at a time, and in the
// end only the last user message. It calls reserve with the number of bytes that it holds
// before it reads on; reserve may be nil.
func Read(r io.Reader, reserve func(bytes int64) error) (Request, error) {
	return read(r, MaxBytes, maxKept, reserve)
}

func read(r io.Reader, most int64, kept int, reserve func(bytes int64) error) (Request, error) {
	var req Request
	err := scan(r, most, kept, reserve, "`id` and `messages`", func(s *scanner, key string) error { return s.field(&req, key) })
	return req, err
}

// scan reads one JSON object and calls field for each of its keys. Its sentences name what the
// object has to hold.
func scan(r io.Reader, most int64, kept int, reserve func(bytes int64) error, holds string, field func(s *scanner, key string) error) error {
	limited := &io.LimitedReader{R: r, N: most + 1}
	tokens := &tokenReader{r: limited, most: int64(kept) + 1<<10}
	s := &scanner{dec: json.NewDecoder(tokens), most: kept}
	tokens.at = s.dec.InputOffset
	if reserve != nil {
		tokens.reserve = func() error { return reserve(tokens.held() + s.held()) }
	}
	s.dec.UseNumber()
	err := s.object(holds, field)
	switch {
	case limited.N <= 0:
		return tooLarge(most)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refusal.TooSlow()
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		if s.dec.InputOffset() == 0 {
			return refusal.Malformed("The request body is empty: send JSON with %s.", holds)
		}
		return refusal.Malformed("The request body ends in the middle of its JSON.")
	}
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		return refusal.Malformed("The request body is not JSON (at byte %d).", syntax.Offset)
	}
	return err
}

// CheckLength refuses a body that is too large by its declared length.
func CheckLength(bytes int64) error {
	if bytes > MaxBytes {
		return tooLarge(MaxBytes)
	}
	return nil
}

func tooLarge(most int64) error {
	return refusal.TooLarge("The request body is larger than %d MB.", most>>20)
}

type scanner struct {
	dec  *json.Decoder
	most int // bytes kept of one message
	kept int // of the message that is read; more than most when it was too much
	user int // of the last user message
}

// held is the cost of the values that are kept.
func (s *scanner) held() int64 { return int64(min(s.kept, s.most) + s.user) }

// object reads the whole input, which is one object.
func (s *scanner) object(holds string, field func(s *scanner, key string) error) error {
	if err := s.open('{', "The request body must be a JSON object with "+holds+"."); err != nil {
		return err
	}
	err := s.fields(1, func(key string) error {
		defer s.forget()
		return field(s, key)
	})
	if err != nil {
		return err
	}
	if _, err := s.dec.Token(); !errors.Is(err, io.EOF) {
		return refusal.Malformed("The request body goes on after its JSON object.")
	}
	return nil
}

// field reads a key of the body.
func (s *scanner) field(req *Request, key string) error {
	switch key {
	case "id":
		return s.text(key, &req.ID)
	case "trigger":
		return s.text(key, &req.Trigger)
	case "messageId":
		return s.text(key, &req.MessageID)
	case "messages":
		return s.messages(req)
	case "message":
		return s.message(req)
	}
	return s.extra(req, key, 2)
}

// extra reads a key that an app may add to the body of the stock client.
func (s *scanner) extra(req *Request, key string, depth int) error {
	switch key {
	case "channelId":
		return s.text(key, &req.Channel)
	case "agent":
		return s.text(key, &req.Agent)
	case "option":
		return s.text(key, &req.Option)
	case "updated_input":
		return s.input(&req.Input)
	case "interrupt":
		v, err := s.value(depth, true)
		req.Interrupt = v == true
		return err
	}
	_, err := s.value(depth, false)
	return err
}

func (s *scanner) messages(req *Request) error {
	if err := s.open('[', "`messages` must be a list of UI messages."); err != nil {
		return err
	}
	for s.dec.More() {
		if err := s.message(req); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

// message reads one message. Its parts may come before its role, so they are
// held until the message is over.
func (s *scanner) message(req *Request) error {
	defer s.forget()
	v, err := s.value(3, true)
	if err != nil {
		return err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return refusal.Malformed("A message must be an object with `id`, `role` and `parts`.")
	}
	role, _ := m["role"].(string)
	id, _ := m["id"].(string)
	req.LastRole, req.LastID = role, id
	if role == "assistant" {
		return req.keepAnswers(id, m)
	}
	if role != "user" {
		return nil
	}
	if s.kept > s.most {
		return refusal.TooLarge("The message is too large: at most %d MB of one message are read.", s.most>>20)
	}
	u, err := userMessage(id, m)
	if err != nil {
		return err
	}
	req.User, s.user = &u, s.kept
	return nil
}

// forget counts nothing of the value that was read last.
func (s *scanner) forget() { s.kept = 0 }

func (s *scanner) open(want json.Delim, sentence string) error {
	t, err := s.dec.Token()
	if err != nil {
		return err
	}
	if t != want {
		return refusal.Malformed("%s", sentence)
	}
	return nil
}

// fields calls read for each key of an object whose brace has been read.
func (s *scanner) fields(depth int, read func(key string) error) error {
	if depth > maxDepth {
		return refusal.Malformed("The request body is nested deeper than %d levels.", maxDepth)
	}
	for s.dec.More() {
		t, err := s.dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := read(key); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

func (s *scanner) text(key string, into *string) error {
	v, err := s.value(2, true)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
	case string:
		if len(v) > maxWord {
			return refusal.Malformed("`%s` is longer than %d KB: send a shorter one.", key, maxWord>>10)
		}
		if !whole(v) {
			return refusal.Malformed("`%s` holds characters that are not UTF-8: send others.", key)
		}
		*into = v
	default:
		return refusal.Malformed("`%s` must be a string.", key)
	}
	return nil
}

// whole reports whether a decoded text is as it was sent. The decoder makes U+FFFD of
// bytes that are not UTF-8, so that two ids would become one.
func whole(text string) bool { return !strings.ContainsRune(text, utf8.RuneError) }

// input reads the edited input of a call.
func (s *scanner) input(into *json.RawMessage) error {
	v, err := s.value(2, true)
	if err != nil || v == nil {
		return err
	}
	if s.kept > s.most {
		return tooMuchPassedOn("updated_input")
	}
	*into, err = passThroughJSON("updated_input", v)
	return err
}

// A kept value costs more than its own bytes. These costs are counted, so that the
// bound on a message bounds its memory.
const (
	costOfValue  = 48
	costOfObject = 320
	costOfKey    = 64
)

// keeps counts the cost of a value, and reports whether the value can still be kept.
func (s *scanner) keeps(cost int) bool {
	s.kept += cost
	return s.kept <= s.most
}

// value reads one value. A value that is not kept, or is beyond the bound of one
// message, is read and dropped.
func (s *scanner) value(depth int, keep bool) (any, error) {
	if depth > maxDepth {
		return nil, refusal.Malformed("The request body is nested deeper than %d levels.", maxDepth)
	}
	t, err := s.dec.Token()
	if err != nil {
		return nil, err
	}
	cost := costOfValue
	delim, nested := t.(json.Delim)
	switch t := t.(type) {
	case string:
		cost += len(t)
	case json.Number:
		if len(t) > maxNumber {
			return nil, refusal.Malformed("The request body holds a number of more than %d digits: send it as a text.", maxNumber)
		}
		cost += len(t)
	case json.Delim:
		if t == '{' {
			cost += costOfObject
		}
	}
	keep = keep && s.keeps(cost)
	switch {
	case nested && delim == '{':
		m := map[string]any{}
		err := s.fields(depth, func(key string) error {
			keep := keep && s.keeps(costOfKey+len(key))
			v, err := s.value(depth+1, keep)
			if keep && s.kept <= s.most {
				m[key] = v
			}
			return err
		})
		return m, err
	case nested:
		var list []any
		for s.dec.More() {
			v, err := s.value(depth+1, keep)
			if err != nil {
				return nil, err
			}
			if keep && s.kept <= s.most {
				list = append(list, v)
			}
		}
		_, err := s.dec.Token()
		return list, err
	case !keep:
		return nil, nil
	}
	return t, nil
}
