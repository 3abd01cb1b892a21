package agentops

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// listen carries out the commands of the browser, frame by frame. It begins when the
// browser watches the session, so that no turn runs and ends before the browser sees it.
func (c *client) listen(ctx context.Context) error {
	select {
	case <-c.watches:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		frame, err := c.conn.Read(ctx)
		if err != nil {
			return err
		}
		if err := c.receive(ctx, frame); err != nil {
			return err
		}
	}
}

// receive carries out one frame. The sender of a bad frame gets an error frame. The
// returned error ends the connection.
func (c *client) receive(ctx context.Context, data []byte) error {
	c.s.Hub.Touch(c.id)
	if err := c.Count(); err != nil {
		return c.complain(ctx, err)
	}
	f, err := wire.Decode(wire.FromBrowser, data)
	field, lacks := errors.AsType[*wire.FieldError](err)
	switch {
	case lacks && field.Type == (wire.Answer{}).Type():
		return c.send(ctx, wire.Error{Message: "Missing questionId or answer"})
	case lacks:
		return c.send(ctx, wire.Error{Message: "Missing " + field.Field})
	case err != nil && json.Valid(data): // a frame without a type counts as one of an unknown type
		return nil
	case err != nil:
		return c.send(ctx, wire.Error{Message: "Invalid JSON"})
	}
	if err := c.command(ctx, f); err != nil {
		return c.complain(ctx, err)
	}
	return nil
}

// command carries out a frame if the user may send it.
func (c *client) command(ctx context.Context, f wire.Frame) error {
	switch f.(type) {
	case wire.Prompt, wire.Answer, wire.Abort, wire.QueueWithdraw, wire.QueueReplace, wire.QueuePromote, wire.Revert:
		if err := c.May(access.Collaborator); err != nil {
			return err
		}
	}
	switch f.(type) {
	case wire.Prompt, wire.Answer, wire.QueueReplace, wire.Revert:
		if err := c.MayUse(); err != nil {
			return err
		}
	}
	hub, id, by := c.s.Hub, c.id, c.User.ID
	var err error
	switch f := f.(type) {
	case wire.Ping:
		return c.send(ctx, wire.Pong{})
	case wire.Prompt:
		return c.prompt(ctx, f)
	case wire.Answer:
		return c.answer(ctx, f)
	case wire.ApproveAction:
		return c.permit(ctx, f.InvocationID, true, "")
	case wire.DenyAction:
		return c.permit(ctx, f.InvocationID, false, f.Reason)
	case wire.Abort: // prompts that wait go on waiting
		_, _, err = hub.StopTurn(ctx, id, "", by)
	case wire.QueueWithdraw:
		err = c.withdraw(ctx)
	case wire.QueueReplace:
		if err = wellFormed(f.Attachments); err == nil {
			err = c.withdraw(ctx)
		}
		if err == nil {
			err = c.prompt(ctx, f.Prompt)
		}
	case wire.QueuePromote:
		err = c.promote(ctx)
	case wire.Revert:
		err = hub.Revert(ctx, id, f.MessageID, by)
	case wire.Diff, wire.Review, wire.Command:
		err = &refusal.Error{Status: http.StatusNotImplemented, Code: "not_offered", Sentence: "This gateway does not offer " + f.Type() + " on its socket."}
	}
	return err
}

// prompt asks the agent. The sender learns which attachments were left out.
func (c *client) prompt(ctx context.Context, f wire.Prompt) error {
	if err := wellFormed(f.Attachments); err != nil {
		return err
	}
	message := trace.UserMessage{}
	if f.Content != "" {
		message.Parts = append(message.Parts, trace.InputPart{Type: trace.InputText, Text: f.Content})
	}
	files, dropped := attached(f.Attachments)
	message.Parts = append(message.Parts, files...)
	if dropped {
		err := c.send(ctx, wire.Error{Message: "Some attachments were left out: a picture, a sound or a PDF as a base64 data URL can be taken."})
		if err != nil || len(message.Parts) == 0 {
			return err
		}
	}
	if len(message.Parts) == 0 {
		return refusal.Malformed("Missing content or attachments")
	}
	if f.QueueMode == wire.QueueSteer {
		if _, _, err := c.s.Hub.StopTurn(ctx, c.id, "", c.User.ID); err != nil {
			return err
		}
	}
	_, err := c.s.Hub.Prompt(ctx, c.id, session.Prompt{
		Message: message, By: c.User.ID, Channel: f.Channel.Name(f.ThreadID), MayPermit: c.MayPermit() == nil,
		Caller: c.Caller(),
	})
	return err
}

func (c *client) sender() session.Sender { return session.Sender{By: c.User.ID, Caller: c.Caller()} }

func (c *client) answer(ctx context.Context, f wire.Answer) error {
	_, err := c.s.Hub.Answer(ctx, c.id, f.QuestionID, c.sender(), []string{f.Answer.String()})
	return unlessLate(err)
}

func (c *client) permit(ctx context.Context, request string, approved bool, reason string) error {
	if err := c.MayPermit(); err != nil {
		return err
	}
	_, err := c.s.Hub.Permit(ctx, c.id, request, c.sender(), session.Choice{Approved: &approved, Reason: reason})
	return unlessLate(err)
}

// unlessLate drops the error of an answer to a request that waits no longer.
func unlessLate(err error) error {
	if _, late := errors.AsType[*session.AnsweredError](err); late || errors.Is(err, session.ErrUnknownRequest) {
		return nil
	}
	return err
}
