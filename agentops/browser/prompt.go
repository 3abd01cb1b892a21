package browser

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// prompt shows a user's prompt. The prompt waits while the agent is at work, unless it is
// an answer in words, which belongs to the turn that asked.
func (t *Translator) prompt(r trace.Record, p trace.Prompt) {
	u := t.turn(r.Turn)
	edited := u.message == nil && u.prompt != nil && u.prompt.ID == p.Message.ID
	if u.message != nil { // these words end the message above them
		u.message.finish(agentops.ReasonEndTurn, "")
		t.update(u)
	}
	u.channel, u.thread = channel(p.Channel)
	u.prompt, u.files = userMessage(r, p)
	u.prompt.Channel, u.prompt.ThreadID = u.channel, u.thread
	if edited && u.queued {
		t.send(agentops.QueueState{Data: agentops.QueueData{Pending: u.pending()}})
		return
	}
	if u.queued = u.message == nil && len(t.turns) > 1; !u.queued {
		t.show(u)
		return
	}
	t.send(agentops.QueueState{Data: agentops.QueueData{Pending: u.pending()}})
	t.send(agentops.Status{Data: agentops.StatusData{PromptQueued: true, QueuePosition: new(len(t.waiting())), QueueReason: agentops.QueueBusy}})
}

func (t *Translator) show(u *turn) {
	t.know(u.prompt.ID)
	t.send(agentops.MessageAdded{Data: *u.prompt})
}

// userMessage is a prompt as a message, with its files as attachments.
func userMessage(r trace.Record, p trace.Prompt) (*agentops.Message, []agentops.Attachment) {
	m := &agentops.Message{
		ID: p.Message.ID, Role: agentops.RoleUser, AuthorID: p.By, AuthorName: p.By, CreatedAt: agentops.Stamp(r.Time.Unix()),
	}
	var files []agentops.Attachment
	for _, part := range p.Message.Parts {
		switch part.Type {
		case trace.InputText:
			if m.Content != "" {
				m.Content += "\n"
			}
			m.Content += trace.JSONText(part.Text)
		case trace.InputFile:
			files = append(files, agentops.Attachment{Type: "file", MIME: part.MediaType, URL: part.URL, Filename: part.Filename})
			m.Parts = append(m.Parts, agentops.Part{Type: agentops.PartFile, Data: part.URL, MIMEType: part.MediaType, Filename: part.Filename})
		}
	}
	return m, files
}

// pending describes a prompt that waits.
func (u *turn) pending() *agentops.PendingPrompt {
	return &agentops.PendingPrompt{MessageID: u.prompt.ID, Content: string(u.prompt.Content), Attachments: u.files, ThreadID: u.thread}
}

// next is the prompt that runs next, or nil.
func (t *Translator) next() *agentops.PendingPrompt {
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
		t.send(agentops.QueueWithdrawn{Data: *u.pending()})
		t.send(agentops.QueueState{Data: agentops.QueueData{Pending: t.next()}})
	}
	if !u.queued || p.Outcome == trace.OutcomeFailed {
		t.send(agentops.Error{Data: &agentops.ErrorData{Message: cmp.Or(p.Error, "Turn failed"), PromptID: u.prompt.ID}, Channel: u.channel})
	}
}
