package agentops

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

// prompt shows a user's prompt. The prompt waits while the agent is at work, unless it is
// an answer in words, which belongs to the turn that asked.
func (t *Translator) prompt(r trace.Record, p trace.Prompt) {
	u := t.turn(r.Turn)
	edited := u.message == nil && u.prompt != nil && u.prompt.ID == p.Message.ID
	if u.message != nil { // these words end the message above them
		u.message.finish(wire.ReasonEndTurn, "")
		t.update(u)
	}
	u.channel, u.thread = channel(p.Channel)
	u.prompt, u.files = userMessage(r, p)
	u.prompt.Channel, u.prompt.ThreadID = u.channel, u.thread
	if edited && u.queued {
		t.send(wire.QueueState{Data: wire.QueueData{Pending: u.pending()}})
		return
	}
	if u.queued = u.message == nil && len(t.turns) > 1; !u.queued {
		t.show(u)
		return
	}
	t.send(wire.QueueState{Data: wire.QueueData{Pending: u.pending()}})
	t.send(wire.Status{Data: wire.StatusData{PromptQueued: true, QueuePosition: new(len(t.waiting())), QueueReason: wire.QueueBusy}})
}

func (t *Translator) show(u *turn) {
	t.know(u.prompt.ID)
	t.send(wire.MessageAdded{Data: *u.prompt})
}

// userMessage is a prompt as a message, with its files as attachments.
func userMessage(r trace.Record, p trace.Prompt) (*wire.Message, []wire.Attachment) {
	m := &wire.Message{
		ID: p.Message.ID, Role: wire.RoleUser, AuthorID: p.By, AuthorName: p.By, CreatedAt: wire.Stamp(r.Time.Unix()),
	}
	var files []wire.Attachment
	for _, part := range p.Message.Parts {
		switch part.Type {
		case trace.InputText:
			if m.Content != "" {
				m.Content += "\n"
			}
			m.Content += trace.JSONText(part.Text)
		case trace.InputFile:
			files = append(files, wire.Attachment{Type: "file", MIME: part.MediaType, URL: part.URL, Filename: part.Filename})
			m.Parts = append(m.Parts, wire.Part{Type: wire.PartFile, Data: part.URL, MIMEType: part.MediaType, Filename: part.Filename})
		}
	}
	return m, files
}

// pending describes a prompt that waits.
func (u *turn) pending() *wire.PendingPrompt {
	return &wire.PendingPrompt{MessageID: u.prompt.ID, Content: string(u.prompt.Content), Attachments: u.files, ThreadID: u.thread}
}

// next is the prompt that runs next, or nil.
func (t *Translator) next() *wire.PendingPrompt {
	if all := t.waiting(); len(all) > 0 {
		return all[0].pending()
	}
	return nil
}

// waiting are the turns whose prompt waits.
func (t *Translator) waiting() []*turn {
	return slices.DeleteFunc(slices.Clone(t.turns), func(u *turn) bool { return !u.queued })
}

// dropPrompt ends a turn that never ran.
func (t *Translator) dropPrompt(u *turn, p trace.Stop) {
	if u.prompt == nil {
		return
	}
	if u.queued {
		t.send(wire.QueueWithdrawn{Data: *u.pending()})
		t.send(wire.QueueState{Data: wire.QueueData{Pending: t.next()}})
	}
	if !u.queued || p.Outcome == trace.OutcomeFailed {
		t.send(wire.Error{Data: &wire.ErrorData{Message: cmp.Or(p.Error, "Turn failed"), PromptID: u.prompt.ID}, Channel: u.channel})
	}
}
