package browser

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// turn is a turn that is not over.
type turn struct {
	id      string
	prompt  *agentops.Message // as the user said it, nil for a turn of the agent's own
	files   []agentops.Attachment
	queued  bool
	message *message // nil before the reply
	status  agentops.AgentStatus
	calls   map[string]trace.ToolCall // that run, for what is asked about them
	asks    []agentops.Ask
	changes []changedFile

	channel agentops.Channel
	thread  string
}

// prompt shows what a user said. While the agent is at work it waits, unless it is an
// answer in words: that belongs to the turn which it answers.
func (t *Translator) prompt(r trace.Record, p trace.Prompt) {
	u := t.turn(r.Turn)
	if u.message != nil { // its answer stands above these words, and is over
		u.message.finish(agentops.ReasonEndTurn, "")
		t.update(u)
	}
	u.channel, u.thread = channel(p.Channel)
	u.prompt, u.files = said(r, p)
	u.prompt.Channel, u.prompt.ThreadID = u.channel, u.thread
	if u.queued = u.message == nil && len(t.turns) > 1; !u.queued {
		t.show(u)
		return
	}
	t.send(queued{agentops.MessageAdded{Data: *u.prompt}})
	t.send(agentops.QueueState{Data: agentops.QueueData{Pending: u.pending()}})
	t.send(agentops.Status{Data: agentops.StatusData{PromptQueued: true, QueuePosition: new(len(t.waiting())), QueueReason: agentops.QueueBusy}})
}

func (t *Translator) show(u *turn) {
	t.know(u.prompt.ID)
	t.send(agentops.MessageAdded{Data: *u.prompt})
}

// said is a user's message.
func said(r trace.Record, p trace.Prompt) (*agentops.Message, []agentops.Attachment) {
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

// pending is a prompt that waits.
func (u *turn) pending() *agentops.PendingPrompt {
	return &agentops.PendingPrompt{MessageID: u.prompt.ID, Content: string(u.prompt.Content), Attachments: u.files, ThreadID: u.thread}
}

// next is the prompt that is to run next, or nil.
func (t *Translator) next() *agentops.PendingPrompt {
	if all := t.waiting(); len(all) > 0 {
		return all[0].pending()
	}
	return nil
}

// reply begins an assistant's message. A second one of a turn stands below an answer
// in words.
func (t *Translator) reply(r trace.Record, p trace.Reply) {
	u := t.turn(r.Turn)
	dequeued := u.queued
	u.queued = false
	u.message = newMessage(p.MessageID, agentops.Stamp(r.Time.Unix()), t.MaxMessage)
	if dequeued {
		t.show(u)
		t.send(agentops.QueueState{Data: agentops.QueueData{Pending: t.next()}})
		t.send(agentops.Status{Data: agentops.StatusData{PromptDequeued: true, Remaining: new(len(t.waiting()))}})
	}
	t.tell(u, agentops.StatusThinking, "")
	t.know(p.MessageID)
	t.begin(u)
}

// begin tells that an assistant's message begins.
func (t *Translator) begin(u *turn) {
	m := u.message.frame(u)
	m.Content, m.Parts, m.CreatedAt = "", agentops.Parts{}, u.message.created
	t.send(agentops.MessageAdded{Data: m})
}

// update tells the whole message as it now is.
func (t *Translator) update(u *turn) {
	if !t.quiet {
		t.send(agentops.MessageUpdated{Data: u.message.frame(u)})
	}
}

// tell says what the agent does, unless that is known.
func (t *Translator) tell(u *turn, status, detail string) {
	now := agentops.AgentStatus{Status: status, Detail: detail, Channel: u.channel}
	if now != u.status {
		u.status = now
		t.send(now)
	}
}

// running shows what happens in a turn that runs. A browser has frames for few kinds of
// records, and for none of a sub-agent's.
func (t *Translator) running(u *turn, r trace.Record) {
	if c, is := r.Payload.(trace.ToolCall); is {
		u.calls[c.ToolCallID] = c
	}
	if c, is := r.Payload.(trace.ToolResult); is {
		delete(u.calls, c.ToolCallID)
	}
	if c, is := r.Payload.(trace.FileChange); is {
		u.change(c)
	}
	if _, aside := r.Actor.SubagentCall(); aside {
		return
	}
	switch p := r.Payload.(type) { //nolint:gochecksumtype // Next lists the kinds
	case trace.MessageDelta:
		t.chunk(u, u.message.delta(p.Part, p.Delta))
	case trace.Message:
		t.chunk(u, u.message.whole(p.Part, p.Text))
	case trace.ThoughtStart:
		t.tell(u, agentops.StatusThinking, "")
	case trace.ToolCallStart:
		t.tell(u, agentops.StatusToolCalling, p.RawName)
		u.message.call(p.ToolCallID, p.RawName, agentops.ToolPending, json.RawMessage("{}"))
		t.update(u)
	case trace.ToolCall:
		t.tell(u, agentops.StatusToolCalling, p.RawName)
		u.message.call(p.ToolCallID, p.RawName, agentops.ToolRunning, p.Input)
		t.update(u)
	case trace.ToolResult:
		u.message.result(p)
		t.update(u)
	case trace.Status:
		if p.State != trace.StateIdle || p.Detail != "" {
			t.tell(u, string(p.State), p.Detail)
		}
	case trace.Error:
		t.send(agentops.Toast{Title: "The agent met an error", Description: p.Message, Variant: "error"})
	}
}

func (t *Translator) chunk(u *turn, text string) {
	if text == "" {
		return
	}
	t.tell(u, agentops.StatusStreaming, "")
	t.send(agentops.Chunk{Content: trace.JSONText(text), MessageID: u.message.id, Channel: u.channel})
}

// stop ends a turn.
func (t *Translator) stop(r trace.Record, p trace.Stop) {
	u := t.find(r.Turn)
	if u == nil {
		return
	}
	for _, a := range u.asks { // the Builder has closed them; a log that was cut may lack it
		t.expire(a)
	}
	t.turns = slices.DeleteFunc(t.turns, func(o *turn) bool { return o == u })
	if u.message == nil {
		t.unrun(u, p)
	} else {
		t.finish(u, p)
	}
	if len(t.turns) == 0 {
		t.send(agentops.Status{Data: agentops.StatusData{RunnerBusy: new(bool)}})
	}
}

// finish ends the turn's message. The frame idle comes first after an abort.
func (t *Translator) finish(u *turn, p trace.Stop) {
	reason, fault := agentops.ReasonEndTurn, ""
	switch p.Outcome {
	case trace.OutcomeFailed:
		reason, fault = agentops.ReasonError, cmp.Or(p.Error, "Turn failed")
	case trace.OutcomeCanceled:
		reason = agentops.ReasonCanceled
		t.tell(u, agentops.StatusIdle, "")
	case trace.OutcomeCompleted:
	}
	u.message.finish(reason, fault)
	t.update(u)
	t.tell(u, agentops.StatusIdle, "")
	if len(u.changes) > 0 {
		t.send(filesChanged{Files: u.changes})
	}
}

// unrun ends a turn that never ran.
func (t *Translator) unrun(u *turn, p trace.Stop) {
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

// filesChanged lists the files that a turn has changed.
type filesChanged struct {
	Files []changedFile `json:"files"`
}

// Type implements agentops.Frame.
func (filesChanged) Type() string { return "files-changed" }

type changedFile struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// change notes a changed file, each once.
func (u *turn) change(c trace.FileChange) {
	const most = 1000
	i := slices.IndexFunc(u.changes, func(f changedFile) bool { return f.Path == c.Path })
	if i < 0 && len(u.changes) < most {
		i = len(u.changes)
		u.changes = append(u.changes, changedFile{Path: c.Path})
	}
	if i >= 0 {
		u.changes[i].Status = map[trace.ChangeKind]string{
			trace.FileCreated: "added", trace.FileModified: "modified", trace.FileDeleted: "deleted", trace.FileMoved: "renamed",
		}[c.Change]
	}
}
