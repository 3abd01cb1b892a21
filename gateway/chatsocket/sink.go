package chatsocket

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tributary-dev/tributary/gateway/chatbody"
)

// This file makes frames of an HTTP answer.

// maxSentence bounds the sentence of an answer that is an error.
const maxSentence = 4 << 10

// broken is the sentence for an answer that ends before its end.
const broken = "The answer broke off: reload the page."

// sink is the response to one request of a socket. Its server-sent events become chunks with
// numbers from zero on, and a status that is an error becomes an error frame. The answer to a
// request with an address becomes frames of the whole response.
type sink struct {
	request  []byte // the id of the request, as JSON
	resumes  bool
	plain    bool // the frames are those of the whole response
	write    func(frame []byte) error
	header   http.Header
	status   int
	sentence []byte
	events   []byte // that have not ended yet
	scanned  int    // the part of events that holds no end of an event
	sequence int
	ended    bool
}

func newSink(f chatbody.Frame, write func([]byte) error) *sink {
	id, _ := json.Marshal(f.RequestID) //nolint:errchkjson // a string
	return &sink{request: id, resumes: f.Type == chatbody.Resume, plain: f.Path != "", write: write, header: http.Header{}}
}

// Header implements http.ResponseWriter.
func (s *sink) Header() http.Header { return s.header }

// WriteHeader implements http.ResponseWriter.
func (s *sink) WriteHeader(status int) {
	if s.status != 0 {
		return
	}
	switch s.status = status; {
	case s.plain:
		headers, _ := json.Marshal(s.header) //nolint:errchkjson // strings
		_ = s.frame("head", `,"status":`+strconv.Itoa(status)+`,"headers":`+string(headers))
	case status == http.StatusOK && s.resumes:
		_ = s.frame("start", "") // the next frame has the same error
	}
}

// Write implements http.ResponseWriter.
func (s *sink) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	if s.status != http.StatusOK && !s.plain {
		s.sentence = append(s.sentence, p[:min(len(p), maxSentence-len(s.sentence))]...)
		return len(p), nil
	}
	s.events = append(s.events, p...)
	begin := 0
	for {
		n := bytes.Index(s.events[begin+s.scanned:], []byte("\n\n"))
		if n < 0 {
			break
		}
		end := begin + s.scanned + n
		if err := s.event(s.events[begin:end]); err != nil {
			return 0, err
		}
		begin, s.scanned = end+2, 0
	}
	s.events = append(s.events[:0], s.events[begin:]...)
	s.scanned = max(0, len(s.events)-1)
	return len(p), nil
}

// FlushError is for http.ResponseController: nothing is held back.
func (*sink) FlushError() error { return nil }

// event makes a frame of a server-sent event. Comments and names of events have none, except in
// a whole response.
func (s *sink) event(event []byte) error {
	if s.plain {
		return s.text(string(event) + "\n\n")
	}
	for line := range bytes.SplitSeq(event, []byte("\n")) {
		switch data, is := bytes.CutPrefix(line, []byte("data: ")); {
		case !is:
		case string(data) == "[DONE]":
			s.ended = true
			return s.frame("end", "")
		default:
			s.sequence++
			return s.frame("chunk", `,"sequence":`+strconv.Itoa(s.sequence-1)+`,"chunk":`+string(data))
		}
	}
	return nil
}

func (s *sink) frame(typ, rest string) error {
	return s.write([]byte(`{"type":"` + typ + `","requestId":` + string(s.request) + rest + "}"))
}

// text writes a piece of a whole response.
func (s *sink) text(piece string) error {
	text, _ := json.Marshal(piece) //nolint:errchkjson // a string
	return s.frame("data", `,"data":`+string(text))
}

// fail ends the answer with an error frame.
func (s *sink) fail(sentence string) error {
	text, _ := json.Marshal(sentence) //nolint:errchkjson // a string
	return s.frame("error", `,"errorText":`+string(text))
}

// finish writes the last frame of an answer whose handler has returned, or has broken it off.
func (s *sink) finish(broke bool) error {
	switch {
	case s.plain && !broke:
		s.WriteHeader(http.StatusOK)
		if len(s.events) > 0 {
			_ = s.text(string(s.events)) // the next frame has the same error
		}
		return s.frame("end", "")
	case s.ended:
		return nil
	case s.status == http.StatusNoContent:
		return s.frame("no-active", "")
	case s.status >= http.StatusBadRequest:
		return s.fail(string(bytes.ToValidUTF8(s.sentence, nil)))
	}
	return s.fail(broken)
}
