package agenttest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// Host is an agent.Host that records the calls of an agent and answers by function.
// Like the real one it puts the answers on record itself. Set the fields before the
// Host is used.
type Host struct {
	// OnPermit answers permission requests; nil withdraws them.
	OnPermit func(context.Context, trace.PermissionRequest) trace.PermissionResponse
	// OnAsk answers questions; nil withdraws them.
	OnAsk func(context.Context, trace.Question) trace.Answer
	// Judge is the policy; nil decides nothing.
	Judge func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool)
	// Offer leaves out options of a request that Judge has left open; nil leaves out none.
	Offer func(trace.PermissionRequest) []trace.PermissionOption
	// Dir is the workspace.
	Dir workspace.Dir
	// RequestSuffix ends the ids of requests and questions, as in the Builder of a session.
	// An adapter that gives its own id to Permit then waits for ever.
	RequestSuffix string
	// Past is what History yields before the turns that were played and finished.
	Past []trace.Record
	// StateDir is what State returns; "" makes State fail.
	StateDir string

	feed   *feed
	turns  []*Recorder // by prompts; these five are guarded by feed.mu
	kept   []*Recorder // those of turns that no rewind has taken back
	begun  []*Recorder // by the agent
	notes  []trace.Payload
	tokens []string
}

var _ agent.Host = (*Host)(nil)

// NewHost returns a Host without a workspace that withdraws whatever is asked.
func NewHost() *Host { return &Host{feed: newFeed()} }

// Turn opens a turn as a session would for the prompt.
func (h *Host) Turn(p agent.Prompt) *Recorder {
	r := h.recorder("t", &h.turns)
	r.Emit(trace.Prompt{Message: p.Message, By: p.By, Channel: p.Channel})
	r.Emit(trace.Reply{MessageID: "message-" + r.Turn(), Cause: trace.CausePrompt})
	return r
}

// Reopen takes up a turn that another Host has on record, as a session does after a
// restart for an agent that lives elsewhere. The Recorder has its events, and what
// comes.
func (h *Host) Reopen(turn string, events []trace.Event) *Recorder {
	h.feed.mu.Lock()
	defer h.feed.mu.Unlock()
	r := reopenRecorder(h.feed, events, func(c *trace.Config) {
		c.Turn, c.Decide, c.Offer, c.RequestSuffix = turn, h.Judge, h.Offer, h.RequestSuffix
	})
	h.turns = append(h.turns, r)
	return r
}

// OpenTurn takes up a turn that another Host has on record, see Reopen, and returns what a
// session tells the agent of it.
func (h *Host) OpenTurn(old *Recorder) (*Recorder, agent.OpenTurn) {
	events := old.Events()
	records := make([]trace.Record, len(events))
	for i, e := range events {
		records[i] = trace.Record{Turn: old.Turn(), Seq: uint64(i + 1), Event: e}
	}
	r := h.Reopen(old.Turn(), events)
	left := agent.NewOpenTurn(records)
	left.Builder = r.Builder
	return r, left
}

// Begin implements agent.Host.
func (h *Host) Begin(info agent.TurnInfo) *trace.Builder {
	r := h.recorder("b", &h.begun)
	cause := trace.CauseAgent
	if info.Prompt != nil {
		r.Emit(*info.Prompt)
		cause = trace.CausePrompt
	}
	r.Emit(trace.Reply{MessageID: "message-" + r.Turn(), Cause: cause})
	return r.Builder
}

func (h *Host) recorder(prefix string, list *[]*Recorder) *Recorder {
	h.feed.mu.Lock()
	defer h.feed.mu.Unlock()
	r := newRecorder(h.feed, func(c *trace.Config) {
		c.Turn, c.Decide, c.Offer, c.RequestSuffix = fmt.Sprintf("%s%d", prefix, len(*list)+1), h.Judge, h.Offer, h.RequestSuffix
	})
	*list = append(*list, r)
	h.kept = append(h.kept, r)
	return r
}

// Permit implements agent.Host.
func (h *Host) Permit(ctx context.Context, requestID string) (trace.PermissionResponse, error) {
	r, request, err := awaitAsk(ctx, h, func(p trace.PermissionRequest) bool { return p.RequestID == requestID })
	answer := trace.PermissionResponse{Outcome: trace.Canceled}
	if err == nil && h.OnPermit != nil {
		answer = h.OnPermit(ctx, request)
	}
	answer.RequestID = requestID
	if ctx.Err() != nil {
		return trace.PermissionResponse{RequestID: requestID, Outcome: trace.Canceled}, nil //nolint:nilerr // canceled is an answer, not a fault
	}
	for _, o := range request.Options {
		if o.ID == answer.ChosenOption {
			answer.OptionKind = o.OptionKind
		}
	}
	r.PermissionResponse(answer)
	return answer, nil
}

// Ask implements agent.Host.
func (h *Host) Ask(ctx context.Context, questionID string) (trace.Answer, error) {
	r, question, err := awaitAsk(ctx, h, func(q trace.Question) bool { return q.QuestionID == questionID })
	answer := trace.Answer{Outcome: trace.Canceled}
	if err == nil && h.OnAsk != nil {
		answer = h.OnAsk(ctx, question)
	}
	answer.QuestionID = questionID
	if ctx.Err() != nil {
		return trace.Answer{QuestionID: questionID, Outcome: trace.Canceled}, nil //nolint:nilerr // canceled is an answer, not a fault
	}
	r.Answer(answer)
	return answer, nil
}

// awaitAsk finds what is asked and the turn it is asked in. An id that never
// appears is waited for until ctx ends, as a request that nobody answers is.
func awaitAsk[P trace.Payload](ctx context.Context, h *Host, match func(P) bool) (in *Recorder, found P, err error) {
	err = h.feed.until(ctx, func() bool {
		for _, r := range slices.Concat(h.turns, h.begun) {
			for _, e := range r.events {
				if p, ok := e.Payload.(P); ok && match(p) {
					in, found = r, p
					return true
				}
			}
		}
		return false
	})
	return in, found, err
}

// Files implements agent.Host.
func (h *Host) Files() workspace.Dir { return h.Dir }

// History implements agent.Host.
func (h *Host) History(context.Context) iter.Seq2[trace.Record, error] {
	h.feed.mu.Lock()
	all := slices.Clone(h.Past)
	for _, r := range h.kept {
		if _, over := lastOf(r.events).(trace.Stop); !over {
			continue
		}
		for _, e := range r.events {
			if !trace.Ephemeral(e.Payload) {
				all = append(all, trace.Record{Session: "session", Turn: r.Turn(), Event: e})
			}
		}
	}
	h.feed.mu.Unlock()
	return func(yield func(trace.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func lastOf(events []trace.Event) trace.Payload {
	if len(events) == 0 {
		return nil
	}
	return events[len(events)-1].Payload
}

// rewind removes turns from the history, as a rewind does: all but the first keep.
func (h *Host) rewind(keep int) {
	h.feed.mu.Lock()
	defer h.feed.mu.Unlock()
	h.kept = h.kept[:keep]
}

// State implements agent.Host.
func (h *Host) State() (string, error) {
	if h.StateDir == "" {
		return "", errors.New("this host has no state directory")
	}
	return h.StateDir, nil
}

// Note implements agent.Host.
func (h *Host) Note(p trace.Payload) { h.feed.update(func() { h.notes = append(h.notes, p) }) }

// Resume implements agent.Host.
func (h *Host) Resume(token string) { h.feed.update(func() { h.tokens = append(h.tokens, token) }) }

// Notes returns what was recorded outside any turn.
func (h *Host) Notes() []trace.Payload {
	h.feed.mu.Lock()
	defer h.feed.mu.Unlock()
	return slices.Clone(h.notes)
}

// Token returns the newest resume token, or "".
func (h *Host) Token() string {
	h.feed.mu.Lock()
	defer h.feed.mu.Unlock()
	if len(h.tokens) == 0 {
		return ""
	}
	return h.tokens[len(h.tokens)-1]
}

// Begun returns the turns that the agent began.
func (h *Host) Begun() []*Recorder {
	h.feed.mu.Lock()
	defer h.feed.mu.Unlock()
	return slices.Clone(h.begun)
}
