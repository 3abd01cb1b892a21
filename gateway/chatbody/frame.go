package chatbody

import (
	"io"
	"strings"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file reads the frames of the stock client's WebSocketChatTransport.

// The types of a frame.
const (
	Send   = "send"
	Resume = "resume"
	Get    = "get"
	Abort  = "abort"
)

// Frame is what is kept of a frame. A frame that sends holds a POST: the keys that an app adds
// stand in an object of their own.
type Frame struct {
	Type      string
	RequestID string
	// Path is the address of a request whose answer has the form of HTTP. It stands before the
	// keys of the body; a frame that sends has the whole body beside it.
	Path string
	// Traceparent is the header of that name, which travels in the frame.
	Traceparent string
	Request
}

// maxRequestID bounds the id of a request, which every frame of its answer repeats.
const maxRequestID = 1000

// ReadFrame reads a frame as Read reads a body. When it fails, the Frame holds what came
// before the fault.
func ReadFrame(r io.Reader, reserve func(bytes int64) error) (Frame, error) {
	return readFrame(r, MaxBytes, maxKept, reserve)
}

func readFrame(r io.Reader, most int64, kept int, reserve func(bytes int64) error) (Frame, error) {
	var f Frame
	err := scan(r, most, kept, reserve, "`type` and `requestId`", func(s *scanner, key string) error { return s.frameField(&f, key) })
	return f, err
}

func (s *scanner) frameField(f *Frame, key string) error {
	switch key {
	case "type":
		return s.text(key, &f.Type)
	case "requestId":
		var id string
		if err := s.text(key, &id); err != nil {
			return err
		}
		if len(id) > maxRequestID {
			return refusal.Malformed("`requestId` is longer than %d bytes: send a shorter one.", maxRequestID)
		}
		f.RequestID = id
		return nil
	case "path":
		return s.text(key, &f.Path)
	case "headers":
		return s.nested(key, func(name string) error {
			if !strings.EqualFold(name, "traceparent") {
				_, err := s.value(3, false)
				return err
			}
			return s.text(name, &f.Traceparent)
		})
	case "body":
		return s.nested(key, func(name string) error { return s.extra(&f.Request, name, 3) })
	case "id", "trigger", "messageId", "messages":
		return s.field(&f.Request, key)
	}
	if f.Path != "" {
		return s.field(&f.Request, key)
	}
	_, err := s.value(2, false)
	return err
}

// nested reads an object in the outermost one.
func (s *scanner) nested(name string, read func(key string) error) error {
	if err := s.open('{', "`"+name+"` must be an object."); err != nil {
		return err
	}
	return s.fields(2, func(key string) error {
		defer s.forget()
		return read(key)
	})
}
