package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// observation holds the bytes that one client has got of one message.
type observation struct {
	session  string
	prompt   string // the id of the user message, if this client sent it
	acked    bool   // the gateway answered 200
	refused  string // any other answer
	raw      []byte // the body, as far as it came
	complete bool   // the body is complete

	arrivals []arrival
	ended    time.Time // the body ended or broke off
}

// read reads a response until the body ends or breaks off, or most bytes have come.
func (s *observation) read(res *http.Response, most int) {
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 500)) //nolint:mnd // for people to read
		s.refused = res.Status + " " + string(body)
		return
	}
	s.acked = true
	defer func() { s.ended = time.Now() }()
	buf := make([]byte, min(most, 4<<10))
	for len(s.raw) < most {
		n, err := res.Body.Read(buf[:min(len(buf), most-len(s.raw))])
		s.raw = append(s.raw, buf[:n]...)
		s.arrivals = append(s.arrivals, arrival{len(s.raw), time.Now()})
		if err != nil {
			s.complete = err == io.EOF && ended(s.raw) //nolint:errorlint // io.Reader returns it as it is
			return
		}
	}
}

const done = "data: [DONE]\n\n"

func ended(raw []byte) bool { return bytes.HasSuffix(raw, []byte(done)) }

// content removes the comments of a stream. A partial frame at the end stays.
func content(raw []byte) string {
	var out strings.Builder
	comment := false
	for line := range bytes.Lines(raw) {
		switch {
		case line[0] == ':':
			comment = true
			continue
		case comment && len(line) == 1: // ends the comment
			comment = false
			continue
		}
		comment = false
		out.Write(line)
	}
	return out.String()
}

// chunk is a chunk of the stream, as far as the checks need it.
type chunk struct {
	Type      string          `json:"type"`
	MessageID string          `json:"messageId"`
	Delta     string          `json:"delta"`
	CallID    string          `json:"toolCallId"`
	Output    json.RawMessage `json:"output"`
	ErrorText string          `json:"errorText"`
}

// chunks returns the complete frames of a stream.
func chunks(raw []byte) []chunk {
	var all []chunk
	for line := range bytes.Lines(raw) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		var c chunk
		if ok && line[len(line)-1] == '\n' && json.Unmarshal(data, &c) == nil {
			all = append(all, c)
		}
	}
	return all
}

// failureOf returns the error at the end of a stream, or "".
func failureOf(raw []byte) (failed string) {
	for _, c := range chunks(raw) {
		if c.Type == "error" {
			failed = c.ErrorText
		}
	}
	return failed
}

// summary is the final text and the tool outputs of a stream, a history or a trace.
type summary struct {
	message string
	text    string
	outputs map[string]string // by call
}

func summaryOf(raw []byte) summary {
	g := summary{outputs: map[string]string{}}
	for _, c := range chunks(raw) {
		switch c.Type {
		case "start":
			g.message = c.MessageID
		case "text-delta":
			g.text += c.Delta
		case "tool-output-available":
			g.outputs[c.CallID] = string(c.Output)
		}
	}
	return g
}
