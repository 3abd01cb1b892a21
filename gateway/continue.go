package gateway

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file continues a message whose requests were answered.

// goOn takes the answers of a message and streams the rest of it.
func (g *gateway) goOn(w http.ResponseWriter, r *http.Request, req chatbody.Request, message string, o uistream.Options, began time.Time) (*stream, error) {
	id := r.PathValue("id")
	if id == "" {
		id = req.ID
	}
	parts := req.Answers(message)
	ctx, rd := g.reading(r.Context(), r) // the records of a turn that is not in memory
	rest, err := g.Hub.Continue(ctx, id, g.continuation(r, req, message, parts))
	rd.Waits()
	if errors.Is(err, session.ErrUnknownSession) && r.PathValue("id") == "" { // nothing was ever said there
		err = session.ErrNotWaiting
	}
	if err != nil {
		return nil, g.refuseAnswer(w, message, parts, o, err)
	}
	if rest.Waiting {
		writer := uistream.NewWriter(w, g.Streams.Framing().For(o), g.Timing)
		defer writer.Close()
		err := writer.WriteWaiting(message, o) // it says that the client has gone
		g.streamed(r, rest.Turn, began, writer.Sent(), err)
		return nil, nil //nolint:nilerr,nilnil // as it says
	}
	span := uistream.Span{From: rest.From, SkipPausesThrough: rest.SkipPausesThrough, Reask: askedAgain(parts, rest.Allowed, o)}
	return &stream{turn: rest.Turn, span: span, options: o, began: began, rest: true}, nil
}

// refuseAnswer refuses an answer by the status, or in the stream where a status would make
// the client ask again for ever. Old clients do so for outputs of tools, the only answers
// that they know. Errors that a later request may escape keep their status.
func (g *gateway) refuseAnswer(w http.ResponseWriter, message string, parts []chatbody.Answer, o uistream.Options, err error) error {
	status, code := statusOf(err)
	passes := status >= http.StatusInternalServerError || status == http.StatusTooManyRequests
	output := slices.ContainsFunc(parts, func(a chatbody.Answer) bool { return a.Output })
	if passes || !output || !o.Profile.AsksAgain() {
		return err
	}
	g.Meter.Refused() // the status does not tell it
	writer := uistream.NewWriter(w, g.Streams.Framing().For(o), g.Timing)
	defer writer.Close()
	_ = writer.Refuse(message, code, sentence(err.Error())) // its error says that the client has gone
	return nil
}

func (g *gateway) continuation(r *http.Request, req chatbody.Request, message string, parts []chatbody.Answer) session.Continuation {
	return session.Continuation{
		Message: message, Sender: g.sender(r), MayPermit: g.authz.MayPermit(r) == nil, Replies: chatbody.Replies(parts),
		Extra: session.Choice{Option: req.Option, Input: req.Input, Interrupt: req.Interrupt},
	}
}

// askedAgain are the requests to which the sender and the first person gave
// different answers. A client whose protocol has no chunk for the answer would go
// on showing its own; a second request makes it forget that.
func askedAgain(parts []chatbody.Answer, allowed map[string]bool, o uistream.Options) []uistream.Chunk {
	var all []uistream.Chunk
	for _, p := range parts {
		shown := p.Choice.Approved
		recorded, decided := allowed[p.ID]
		if decided && shown != nil && *shown != recorded && !p.Question && o.Profile.Approvals() && !o.Profile.ToldApprovals() {
			all = append(all, uistream.ToolApprovalRequest{ToolCallID: p.ToolCall, ApprovalID: p.ID})
		}
	}
	return all
}
