package browser

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// february rewrites today's frames into those that browsers of February 2026 read.
type february struct {
	history  []agentops.Message // for init
	joining  bool               // frames repeat what happened before the browser came
	queued   map[string]bool    // the ids of prompts that wait; the browser has their messages
	canceled bool               // the newest message was canceled
}

// queued is a frame of a prompt that begins to wait. Only February shows the prompt at once.
type queued struct{ agentops.MessageAdded }

// rewrite returns the frame for a browser of February, or nil.
func (v *february) rewrite(f agentops.Frame) agentops.Frame {
	switch f := f.(type) {
	case initFrame:
		f.data.AuditLog, f.data.PendingPrompt = json.RawMessage("[]"), nil
		f.Session.Messages = append([]agentops.Message{}, v.history...)
		return agentops.Init{Session: f.Session, Data: f.data}
	case queued:
		v.queued[f.Data.ID] = true
		return f.MessageAdded
	case agentops.MessageAdded:
		if v.queued[f.Data.ID] {
			delete(v.queued, f.Data.ID)
			return nil
		}
	case agentops.MessageUpdated:
		v.finish(f.Data.Parts)
	case agentops.QueueState:
		return nil
	case agentops.QueueWithdrawn:
		v.canceled = false
		delete(v.queued, f.Data.MessageID)
		return agentops.Status{Data: agentops.StatusData{QueueCleared: true, Cleared: new(1)}}
	case agentops.Status:
		f.Data.QueueReason = ""
		if f.Data.RunnerBusy != nil {
			f.Data.Aborted, v.canceled = v.canceled, false
		}
		return f
	case agentops.Error:
		if f.Data != nil {
			return agentops.Error{MessageID: f.Data.PromptID, Error: f.Data.Message, Channel: f.Channel}
		}
	case agentops.InteractivePrompt:
		return v.ask(f.Prompt)
	case agentops.InteractivePromptResolved:
		return resolved(f)
	case agentops.InteractivePromptExpired:
		if f.PromptType == agentops.AskQuestion {
			return agentops.Status{Data: agentops.StatusData{QuestionExpired: f.PromptID}}
		}
		return agentops.ActionExpired{Action: action(f.Context)}
	}
	return f
}

// finish puts the end of a message in front of its error.
func (v *february) finish(parts agentops.Parts) {
	n := len(parts)
	if n == 0 || parts[n-1].Type != agentops.PartFinish {
		return
	}
	v.canceled = parts[n-1].Reason == agentops.ReasonCanceled
	if n > 1 && parts[n-2].Type == agentops.PartError {
		parts[n-2], parts[n-1] = parts[n-1], parts[n-2]
	}
}

// ask asks in the frames of February.
func (v *february) ask(a agentops.Ask) agentops.Frame {
	if a.Type != agentops.AskQuestion {
		return agentops.ActionApprovalRequired{Action: action(a.Context), Params: a.Context.Params, ExpiresAt: a.ExpiresAt, SessionID: a.SessionID}
	}
	q := agentops.Question{QuestionID: a.ID, Text: a.Title, Channel: a.Context.Channel}
	for _, option := range a.Actions {
		q.Options = append(q.Options, option.Label)
	}
	if a.ExpiresAt > 0 && !v.joining { // a question that is repeated has no time
		q.ExpiresAt = time.UnixMilli(a.ExpiresAt).Unix()
	}
	return q
}

func resolved(f agentops.InteractivePromptResolved) agentops.Frame {
	switch {
	case f.PromptType == agentops.AskQuestion:
		return agentops.Status{Data: agentops.StatusData{QuestionAnswered: f.PromptID, Answer: f.Resolution.Value}}
	case f.Resolution.ActionID == agentops.ActionApprove:
		return agentops.ActionApproved{Action: action(f.Context)}
	}
	return agentops.ActionDenied{Action: action(f.Context), Reason: f.Resolution.Value}
}

// action is the object of an approval.
func action(c agentops.AskContext) agentops.Action {
	return agentops.Action{InvocationID: c.InvocationID, ToolID: c.ToolID, ActionID: c.ActionID}
}

// Transcript returns the messages that records without deltas make: the newest ones that
// take up no more than most bytes.
func Transcript(records iter.Seq2[trace.Record, error], o Options, most int) ([]agentops.Message, error) {
	t := New(o)
	var all []agentops.Message
	size := 0 // of the messages since the last look
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		for _, f := range t.Next(r) {
			switch f := f.(type) {
			case agentops.MessageAdded:
				all = append(all, f.Data)
				size += weight(f.Data)
			case agentops.MessageUpdated:
				if i := slices.IndexFunc(all, func(m agentops.Message) bool { return m.ID == f.Data.ID }); i >= 0 {
					all[i].Content, all[i].Parts = f.Data.Content, f.Data.Parts
					size += weight(f.Data)
				}
			}
		}
		if size > most {
			all, size = newest(all, most), 0
		}
	}
	return newest(all, most), nil
}

// newest returns the newest messages that take up no more than most bytes, in a list of
// their own.
func newest(all []agentops.Message, most int) []agentops.Message {
	first := len(all)
	for first > 0 && most >= weight(all[first-1]) {
		first--
		most -= weight(all[first])
	}
	return slices.Clone(all[first:])
}

// weight is roughly the length of a message in a frame.
func weight(m agentops.Message) int {
	const frame = 200
	n := frame + len(m.Content)
	for _, p := range m.Parts {
		n += frame + len(p.Text) + len(p.Args) + len(p.Result) + len(p.Error) + len(p.Data)
	}
	return n
}
