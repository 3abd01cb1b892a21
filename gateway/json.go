package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file reads and writes JSON bodies.

func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return sendJSON(w, status, body)
}

// writeResult is writeJSON for what a call has returned.
func writeResult(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, v)
}

// noContent answers a call that returns nothing but an error.
func noContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

// sendJSON sends a body that is JSON already.
func sendJSON(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil { //nolint:gosec // a browser takes it for nothing but JSON
		return nil //nolint:nilerr // the client has gone
	}
	return nil
}

// readJSON reads a small body, one object, into the struct that v points to; an
// empty body leaves it as it is.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	const limit = 1 << 20
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return bodyFault(err, v)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	err = dec.Decode(v)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			return refusal.Malformed("The request body goes on after its JSON object.")
		}
	}
	return bodyFault(err, v)
}

// bodyFault is the error of a small body, in words that know nothing of Go.
func bodyFault(err error, v any) error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	var tooLarge *http.MaxBytesError
	unknown, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &tooLarge):
		return refusal.TooLarge("The request body is larger than 1 MB: send less.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refusal.TooSlow()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refusal.Malformed("The request body ends in the middle of its JSON.")
	case errors.As(err, &syntax):
		return refusal.Malformed("The request body is not JSON (at byte %d).", syntax.Offset)
	case errors.As(err, &shape) && shape.Field == "":
		return refusal.Malformed("The request body must be a JSON object with %s.", keys(v))
	case errors.As(err, &shape):
		return refusal.Malformed("`%s` must be %s.", shape.Field, kindOf(shape.Type))
	case isUnknown:
		if name, err := strconv.Unquote(unknown); err == nil {
			unknown = name
		}
		return refusal.Malformed("`%s` is not a key here: send %s.", unknown, keys(v))
	}
	return err
}

// kindOf names the type that a value should have.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	default:
		return "of another type"
	}
}

// keys lists what a body may hold.
func keys(v any) string {
	var names []string
	for f := range reflect.TypeOf(v).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, "`"+name+"`")
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
