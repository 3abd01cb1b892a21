package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/agentops/browser"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// listen does what the browser asks for, frame by frame. It begins when the browser
// watches the session, so that no turn runs and ends before the browser can see it.
func (o *onlooker) listen(ctx context.Context) error {
	select {
	case <-o.watches:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		frame, release, err := o.socket.read(ctx)
		if err != nil {
			return err
		}
		err = o.heed(ctx, frame)
		release()
		if err != nil {
			return err
		}
	}
}

// heed does what a frame asks for. Its error ends the socket; the sender of a wrong
// frame gets an error frame.
func (o *onlooker) heed(ctx context.Context, data []byte) error {
	o.g.Hub.Touch(o.id)
	if err := o.g.limiter.request(o.who.ID); err != nil {
		return o.complain(ctx, err)
	}
	f, err := agentops.Decode(agentops.FromBrowser, data)
	field, lacks := errors.AsType[*agentops.FieldError](err)
	switch {
	case lacks && field.Type == (agentops.Answer{}).Type():
		return o.send(ctx, agentops.Error{Message: "Missing questionId or answer"})
	case lacks:
		return o.send(ctx, agentops.Error{Message: "Missing " + field.Field})
	case err != nil && json.Valid(data): // it has no type, which is one that is not known
		return nil
	case err != nil:
		return o.send(ctx, agentops.Error{Message: "Invalid JSON"})
	}
	if err := o.obey(ctx, f); err != nil {
		return o.complain(ctx, err)
	}
	return nil
}

// complain tells the sender of a frame, and nobody else, why it was not heeded.
func (o *onlooker) complain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, _, text := o.g.told(o.r, err)
	return o.send(ctx, agentops.Error{Message: text})
}

func (o *onlooker) obey(ctx context.Context, f agentops.Frame) error {
	switch f := f.(type) {
	case agentops.Ping:
		return o.send(ctx, agentops.Pong{})
	case agentops.Prompt:
		return o.prompt(ctx, f)
	case agentops.Answer:
		return o.answer(ctx, f)
	case agentops.ApproveAction:
		return o.permit(ctx, f.InvocationID, true, "")
	case agentops.DenyAction:
		return o.permit(ctx, f.InvocationID, false, f.Reason)
	case agentops.Abort:
		return o.abort(ctx)
	case agentops.QueueWithdraw:
		return o.withdraw(ctx)
	case agentops.QueueReplace:
		if err := o.withdraw(ctx); err != nil {
			return err
		}
		return o.prompt(ctx, f.Prompt)
	case agentops.QueuePromote:
		return o.promote(ctx)
	case agentops.Revert:
		return o.revert(ctx, f.MessageID)
	case agentops.Diff, agentops.Review, agentops.Command:
		return &refusal{code: "not_offered", sentence: "This gateway does not offer " + f.Type() + " on its socket."}
	}
	return nil // of a type that is not known
}

// may returns why the browser's user may not do what needs the role, or nil. The
// check runs for every frame, because a socket lives long.
func (o *onlooker) may(need access.Role) error {
	_, _, err := o.g.judge(o.r, o.id, need)
	return err
}

// mayPermit returns why the browser's user may not answer permission requests, or nil.
func (o *onlooker) mayPermit() error {
	admitted, _, err := o.g.judge(o.r, o.id, access.Viewer)
	if err != nil {
		return err
	}
	return o.g.mayPermit(admitted)
}

// prompt asks the agent. Files that cannot be taken are left out, and the sender
// hears of that.
func (o *onlooker) prompt(ctx context.Context, f agentops.Prompt) error {
	if err := o.may(access.Collaborator); err != nil {
		return err
	}
	if err := o.g.mayUse(o.r.Context(), o.agent); err != nil { //nolint:contextcheck // the request knows who sends
		return err
	}
	message := trace.UserMessage{}
	if f.Content != "" {
		message.Parts = append(message.Parts, trace.InputPart{Type: trace.InputText, Text: f.Content})
	}
	files, dropped := attached(f.Attachments)
	message.Parts = append(message.Parts, files...)
	if len(message.Parts) == 0 && dropped == "" {
		return o.send(ctx, agentops.Error{Message: "Missing content or attachments"})
	}
	if dropped != "" {
		if err := o.send(ctx, agentops.Error{Message: dropped}); err != nil || len(message.Parts) == 0 {
			return err
		}
	}
	if f.QueueMode == agentops.QueueSteer {
		if err := o.abort(ctx); err != nil {
			return err
		}
	}
	_, err := o.g.Hub.Prompt(ctx, o.id, session.Prompt{
		Message: message, By: o.who.ID, Channel: browser.ChannelName(f.Channel, f.ThreadID), MayPermit: o.mayPermit() == nil,
		Caller: o.sender().Caller, //nolint:contextcheck // the sender's own
	})
	return err
}

// sender is the user behind the socket, with their token and trace context.
func (o *onlooker) sender() session.Sender {
	return session.Sender{By: o.who.ID, Caller: o.g.sender(o.r).Caller}
}

// mostAttachments bounds the files of a prompt.
const mostAttachments = 100

// attached makes parts of attachments: pictures, sounds and PDFs in data URLs. It
// says what was left out.
func attached(all []agentops.Attachment) (parts []trace.InputPart, dropped string) {
	left := 0
	for i, a := range all {
		if i >= mostAttachments || !takes(a) {
			left++
			continue
		}
		parts = append(parts, trace.InputPart{Type: trace.InputFile, MediaType: mediaType(a), URL: a.URL, Filename: a.Filename})
	}
	if left > 0 {
		dropped = "Some attachments were left out: a picture, a sound or a PDF as a base64 data URL can be taken."
	}
	return parts, dropped
}

// mediaType is that of the URL, which is what its reader goes by.
func mediaType(a agentops.Attachment) string {
	typ, _, _ := strings.Cut(strings.TrimPrefix(a.URL, "data:"), ";")
	if typ == "" {
		return a.MIME
	}
	return typ
}

func takes(a agentops.Attachment) bool {
	head, data, ok := strings.Cut(a.URL, ",")
	typ := mediaType(a)
	known := strings.HasPrefix(typ, "image/") || strings.HasPrefix(typ, "audio/") || typ == "application/pdf"
	if !ok || !known || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return false
	}
	n, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	return err == nil && n > 0
}

// answer answers a question. A button of February's may be a permission's; what has
// its answer is left alone without a word.
func (o *onlooker) answer(ctx context.Context, f agentops.Answer) error {
	if err := o.may(access.Collaborator); err != nil {
		return err
	}
	if err := o.g.mayUse(o.r.Context(), o.agent); err != nil { //nolint:contextcheck // the request knows who sends
		return err
	}
	_, err := o.g.Hub.Answer(ctx, o.id, f.QuestionID, o.sender(), []string{f.Answer.String()})
	if errors.Is(err, session.ErrUnknownRequest) && f.Answer.Bool != nil {
		return o.permit(ctx, f.QuestionID, *f.Answer.Bool, "")
	}
	return unlessLate(err)
}

func (o *onlooker) permit(ctx context.Context, request string, approved bool, reason string) error {
	if err := o.mayPermit(); err != nil {
		return err
	}
	_, err := o.g.Hub.Permit(ctx, o.id, request, o.sender(), session.Choice{Approved: &approved, Reason: reason})
	return unlessLate(err)
}

// unlessLate drops the error of an answer to what has one, or waits no longer.
func unlessLate(err error) error {
	if _, late := errors.AsType[*session.AnsweredError](err); late || errors.Is(err, session.ErrUnknownRequest) {
		return nil
	}
	return err
}

// abort ends the turn that runs; what waits goes on waiting.
func (o *onlooker) abort(ctx context.Context) error {
	if err := o.may(access.Collaborator); err != nil {
		return err
	}
	_, _, err := o.g.Hub.StopTurn(ctx, o.id, "", o.who.ID)
	return err
}

func (o *onlooker) withdraw(ctx context.Context) error {
	if err := o.may(access.Collaborator); err != nil {
		return err
	}
	_, err := o.g.Hub.Withdraw(ctx, o.id, o.who.ID)
	return err
}

// promote lets a prompt that waits run now. Where none waits there is nothing to do.
func (o *onlooker) promote(ctx context.Context) error {
	if err := o.may(access.Collaborator); err != nil {
		return err
	}
	_, err := o.g.Hub.Promote(ctx, o.id, o.who.ID)
	return err
}

// revert removes a message of the user's own, and all that followed it.
func (o *onlooker) revert(ctx context.Context, message string) error {
	if err := o.may(access.Collaborator); err != nil {
		return err
	}
	if err := o.g.mayUse(o.r.Context(), o.agent); err != nil { //nolint:contextcheck // the request knows who sends
		return err
	}
	return o.g.Hub.Revert(ctx, o.id, message, o.who.ID)
}
