package runner

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// turn makes records of what a runner says of one prompt.
type turn struct {
	prompt agentops.RunnerPrompt
	b      *trace.Builder
	tools  toolkind.Table
	ask    func(id, native string) // waits for the answer to a question
	over   chan struct{}           // closed when the runner is done with the prompt
	heard  chan struct{}           // something was said
	// aborted says that the runner was told to stop. Guarded by post.mu.
	aborted bool

	mu      sync.Mutex
	done    bool
	line    *line              // the one that has the prompt, or goes on with it
	names   []string           // the runner's turns that belong to it
	try     int                // how often the prompt was sent
	began   bool               // something was heard of this try
	part    int                // parts of text in this try: text after a tool is another
	written bool               // the part has text
	said    []*strings.Builder // the parts of text so far, to know a last word that repeats one
	kept    int                // bytes in said
	calls   map[string]*call
	verdict *trace.Stop
}

// call is a tool call by the runner's id.
type call struct {
	id    string // ours
	begun bool
	whole bool
	done  bool
}

func newTurn(p agentops.RunnerPrompt, b *trace.Builder, tools toolkind.Table) *turn {
	return &turn{prompt: p, b: b, tools: tools, over: make(chan struct{}), heard: make(chan struct{}, 1), calls: map[string]*call{}}
}

// concerns reports whether a frame that names a prompt means this one. One that names
// none means whatever runs.
func (t *turn) concerns(messageID string) bool {
	return messageID == "" || messageID == t.prompt.MessageID
}

// take makes records of a frame.
func (t *turn) take(l *line, f agentops.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || t.try == 0 {
		return // it speaks of something else, for it has not been asked yet
	}
	if id := turnOf(f); id != "" {
		t.line = l // it goes on here, if this is another line
		t.belongs(id)
	}
	select {
	case t.heard <- struct{}{}:
	default:
	}
	if t.echo(f) {
		return
	}
	switch f := f.(type) {
	case agentops.MessageCreate:
		t.endText()
		t.b.StepStart(trace.Step{NativeID: f.TurnID})
	case agentops.TextDelta:
		t.text(string(f.Delta))
	case agentops.ToolUpdate:
		t.endText()
		t.tool(f)
	case agentops.Finalize:
		t.finalize(f)
	case agentops.Error:
		if t.concerns(f.MessageID) {
			t.verdict = &trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: cmp.Or(f.Text(), "Turn failed")}
		}
	case agentops.AgentStatus:
		if t.concerns(f.MessageID) && f.Status != agentops.StatusIdle { // idle says nothing in the middle
			t.b.Emit(trace.Status{State: trace.State(f.Status), Detail: f.Detail})
		}
	case agentops.Question:
		if t.concerns(f.MessageID) {
			t.question(f)
		}
	case agentops.ModelSwitched:
		t.b.Emit(trace.Error{Code: "model_switched", Message: fmt.Sprintf("The model was switched from %s to %s: %s", f.FromModel, f.ToModel, f.Reason)})
	case agentops.Screenshot:
		url := f.Data
		if !strings.HasPrefix(url, "data:") {
			url = "data:image/png;base64," + url
		}
		media, _, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";")
		t.b.Emit(trace.File{URL: url, MediaType: media, Filename: f.Description})
	case agentops.Complete:
		if t.concerns(f.MessageID) {
			t.end()
		}
	case agentops.Aborted:
		t.verdict = &trace.Stop{Reason: "aborted", Outcome: trace.OutcomeCanceled}
		t.end()
	}
}

// emit writes what belongs to the turn only by its time. It reports false if the turn is
// not under way.
func (t *turn) emit(d trace.Data) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || t.try == 0 {
		return false
	}
	t.b.Emit(d)
	return true
}

// echo reports whether a frame only repeats the end of the prompt before: a runner may
// say complete twice, and some do not say of what. Whatever they work on they begin by
// saying so.
func (t *turn) echo(f agentops.Frame) bool {
	switch f := f.(type) {
	case agentops.AgentStatus:
		t.began = t.began || f.Status != agentops.StatusIdle && t.concerns(f.MessageID)
	case agentops.Complete:
		return !t.began && f.MessageID == ""
	case agentops.Aborted:
	default:
		t.began = true
	}
	return false
}

// belongs notes a turn of the runner's, to know what is late once it is over.
func (t *turn) belongs(id string) {
	if len(t.names) < mostPast && !slices.Contains(t.names, id) {
		t.names = append(t.names, id)
	}
}

func (t *turn) end() {
	if !t.done {
		t.done = true
		close(t.over)
	}
}

// send notes that the prompt is sent, for the first time or again: then the runner
// begins anew, and what it says a second time is not to be written twice.
func (t *turn) send(l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.try > 0 {
		t.endText()
		for _, c := range t.calls {
			t.lose(c)
		}
		t.calls = map[string]*call{}
	}
	t.try++
	t.line, t.part, t.written, t.verdict, t.began = l, 0, false, nil, false
}

// lose ends a call whose runner is gone.
func (t *turn) lose(c *call) {
	if c.begun && !c.done {
		c.done = true
		t.b.ToolResult(trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCanceled, Error: "The runner was lost before the result came."})
	}
}

// holder is the line that has the prompt, and how often that was sent.
func (t *turn) holder() (l *line, tries int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line, t.try
}

// What is kept of a turn: how much text to know it again, in how many parts, and how
// many calls there may be.
const (
	longText  = 1 << 20
	mostText  = 16 << 20
	mostParts = 10_000
	mostCalls = 10_000
)

func (t *turn) key(try, part int) string { return fmt.Sprintf("%d.%d", try, part) }

func (t *turn) text(delta string) {
	if delta == "" {
		return
	}
	key := t.key(t.try, t.part)
	if !t.written {
		t.written = true
		if t.try > 1 {
			t.b.MessageRepeats(key, t.key(t.try-1, t.part))
		}
	}
	t.keep(delta)
	t.b.MessageDelta(key, delta)
}

// keep keeps a text as long as there is room for it.
func (t *turn) keep(text string) {
	if t.part >= mostParts || t.kept >= mostText {
		t.kept = mostText
		return
	}
	for len(t.said) <= t.part {
		t.said = append(t.said, &strings.Builder{})
	}
	if said := t.said[t.part]; said.Len() < longText {
		said.WriteString(text)
		t.kept += len(text)
	}
}

func (t *turn) endText() {
	if t.written {
		t.b.MessageEnd(t.key(t.try, t.part))
		t.part++
		t.written = false
	}
}

// finalize heals the last text and takes the verdict. Tools may end after it.
func (t *turn) finalize(f agentops.Finalize) {
	text := string(f.FinalText)
	key := t.key(t.try, t.part)
	known := t.kept >= mostText
	for _, said := range t.said {
		known = known || said.Len() >= longText || strings.Contains(said.String(), text)
	}
	switch {
	case text == "":
	case t.written:
		t.b.Message(key, text) // it wins over the deltas where it goes on with them
		t.part++
		t.written = false
	case !known:
		t.text(text)
	}
	t.endText()
	s := trace.Stop{Reason: cmp.Or(f.Reason, agentops.ReasonEndTurn), Outcome: trace.OutcomeCompleted}
	switch f.Reason {
	case agentops.ReasonError:
		s.Outcome, s.Error = trace.OutcomeFailed, cmp.Or(f.Error, "Turn failed")
	case agentops.ReasonCanceled:
		s.Outcome, s.Error = trace.OutcomeCanceled, f.Error
	}
	t.verdict = &s
}

// settled reports whether the runner has said how the prompt ended.
func (t *turn) settled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.verdict != nil
}

// stop is how the turn ended.
func (t *turn) stop() trace.Stop {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endText()
	if t.verdict == nil {
		return trace.Stop{Reason: agentops.ReasonEndTurn, Outcome: trace.OutcomeCompleted}
	}
	return *t.verdict
}

// tool shows a call. It may be first seen in any status, and its input may come late.
func (t *turn) tool(f agentops.ToolUpdate) {
	c := t.calls[f.CallID]
	if c == nil {
		if len(t.calls) >= mostCalls {
			return
		}
		c = &call{id: f.CallID}
		if t.try > 1 {
			c.id = fmt.Sprintf("%s#%d", f.CallID, t.try)
		}
		t.calls[f.CallID] = c
	}
	if c.done {
		return
	}
	tool := t.tools.Classify(f.ToolName, nil)
	if !c.begun {
		c.begun = true
		t.b.ToolCallStart(trace.ToolCallStart{ToolCallID: c.id, RawName: f.ToolName, Name: tool.Name, ToolKind: tool.Kind})
	}
	ends := f.Status == agentops.ToolCompleted || f.Status == agentops.ToolError
	if !c.whole && (ends || f.Status == agentops.ToolRunning && len(f.Args) > 0) {
		c.whole = true
		input := f.Args
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		tool = t.tools.Classify(f.ToolName, input)
		t.b.ToolCall(trace.ToolCall{
			ToolCallID: c.id, RawName: f.ToolName, Name: tool.Name, ToolKind: tool.Kind, Title: tool.Title, Input: input, Locations: tool.Locations,
		})
	}
	if !ends {
		return
	}
	c.done = true
	r := trace.ToolResult{ToolCallID: c.id, Status: trace.ToolCompleted, Output: f.Result}
	if f.Status == agentops.ToolError {
		r.Status, r.Error = trace.ToolFailed, cmp.Or(f.Error, "Tool execution failed")
	}
	t.b.ToolResult(r)
}

// question asks the user, and hands the answer to whoever waits for it.
func (t *turn) question(f agentops.Question) {
	q := trace.Question{QuestionID: f.QuestionID, Text: f.Text}
	for _, o := range f.Options {
		q.Choices = append(q.Choices, trace.Choice{Label: o})
	}
	if id := t.b.Question(q); id != "" {
		t.ask(id, f.QuestionID)
	}
}
