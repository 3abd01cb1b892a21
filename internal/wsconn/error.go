package wsconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/coder/websocket"
)

// Code is the code of a close frame.
type Code = websocket.StatusCode

// The codes with which this project closes connections.
const (
	NormalClosure   = websocket.StatusNormalClosure
	GoingAway       = websocket.StatusGoingAway
	PolicyViolation = websocket.StatusPolicyViolation
	MessageTooBig   = websocket.StatusMessageTooBig
	InternalError   = websocket.StatusInternalError
)

// Error says why a connection could not be opened, or why it ended.
type Error struct {
	// Message is a phrase without a subject of its own, such as "the peer does not read".
	Message string
	// Status is the HTTP status with which the opening was refused, or 0.
	Status int
	// Body is what that answer says, at most 1,024 bytes.
	Body []byte
	// Code is the code of the close frame, of either side, or 0.
	Code Code
	err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.err }

// Final reports whether another connection would end in the same way.
func (e *Error) Final() bool {
	return e.Status/100 == 3 || e.Status/100 == 4 && e.Status != http.StatusTooManyRequests || slices.Contains([]Code{
		websocket.StatusProtocolError, websocket.StatusUnsupportedData, websocket.StatusInvalidFramePayloadData,
		websocket.StatusPolicyViolation, websocket.StatusMessageTooBig, websocket.StatusMandatoryExtension,
	}, e.Code)
}

// refused is the error of a connection that could not be opened.
func refused(ctx, opening context.Context, cfg Config, response *http.Response, err error) *Error {
	var body []byte
	if response != nil && response.Body != nil {
		body, _ = io.ReadAll(response.Body) // Dial has read and cut it
	}
	switch {
	case response != nil && response.Header.Get("Location") != "":
		return &Error{Message: fmt.Sprintf("the server redirects to %.200s: use the final address", response.Header.Get("Location")), Status: response.StatusCode, Body: body, err: err}
	case response != nil && response.StatusCode != http.StatusSwitchingProtocols:
		return &Error{Message: fmt.Sprintf("the server answers %d (%s) and opens no WebSocket: is the address right?", response.StatusCode, http.StatusText(response.StatusCode)), Status: response.StatusCode, Body: body, err: err}
	case ctx.Err() != nil:
		return &Error{Message: "the opening was canceled", err: context.Cause(ctx)}
	case opening.Err() != nil:
		return &Error{Message: fmt.Sprintf("no connection came about within %v", cfg.OpenTime), err: err}
	}
	return &Error{Message: innermost(err), err: err}
}

// lost is the error of a connection that has ended.
func (c *Conn) lost(ctx context.Context, err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	switch closed, ok := errors.AsType[websocket.CloseError](err); {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return &Error{Message: fmt.Sprintf("a frame is larger than %d bytes", c.cfg.MaxFrame), Code: websocket.StatusMessageTooBig, err: err}
	case ok && closed.Reason != "":
		return &Error{Message: fmt.Sprintf("the peer closed the connection (%d): %s", closed.Code, strings.Join(strings.Fields(closed.Reason), " ")), Code: closed.Code, err: err}
	case ok:
		return &Error{Message: fmt.Sprintf("the peer closed the connection (%d)", closed.Code), Code: closed.Code, err: err}
	case c.gone.Load():
		return &Error{Message: fmt.Sprintf("the peer answered no ping within %v", c.cfg.PongTime), err: err}
	case ctx.Err() != nil:
		return &Error{Message: "the connection was closed here", err: context.Cause(ctx)}
	}
	return &Error{Message: "the connection broke: " + innermost(err), err: err}
}

// innermost is the text of the first cause: the layers above repeat the address.
func innermost(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return strings.Join(strings.Fields(err.Error()), " ")
		}
		err = inner
	}
}
