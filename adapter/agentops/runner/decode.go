package runner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Decoder reads the frames of a runner, and those that it gets.
type Decoder struct {
	tools   toolkind.Table
	phase   agentkit.Phase
	turn    *turn       // the newest, or nil
	model   string      // that is on record
	used    trace.Usage // of the session, as far as the runner has told
	stops   int         // stops that the runner has not confirmed
	past    []string    // the runner's names of turns that are over: frames of them are late
	effects []agent.Effect
	fault   error
}

var _ agent.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder. The table says what the runner's tools do.
func NewDecoder(tools toolkind.Table) *Decoder { return &Decoder{tools: tools} }

// Decode implements agent.Decoder.
func (d *Decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	if m.Channel != "" && m.Channel != "r2d" && m.Channel != "d2r" {
		return nil, nil // the browsers' part of a recording
	}
	direction, take := wire.FromRunner, d.said
	if m.Dir == agent.In {
		direction, take = wire.ToRunner, d.sent
	}
	f, err := wire.Decode(direction, m.Data)
	if u, unknown := f.(wire.Unknown); unknown {
		err = fmt.Errorf("type %q: %w", u.Name, agent.ErrUnknownEvent)
	}
	if err != nil {
		return nil, fmt.Errorf("runner: a frame was skipped: %w", err)
	}
	d.effects, d.fault = nil, nil
	take(f, t)
	return d.effects, d.fault
}

// open returns the turn that goes on, or nil. The gateway may have ended the newest.
func (d *Decoder) open() *turn {
	if d.turn != nil && d.turn.b.Over() {
		d.retire()
	}
	return d.turn
}

// mostPast bounds the names of turns that are over.
const mostPast = 64

func (d *Decoder) retire() {
	d.past = append(d.past, d.turn.names...)
	d.past = d.past[max(0, len(d.past)-mostPast):]
	d.turn = nil
	d.on(ended)
}

// sent takes what a runner gets.
func (d *Decoder) sent(f wire.Frame, t agent.Turns) {
	tn := d.open()
	switch f := f.(type) {
	case wire.RunnerInit:
		d.on(connected)
		d.stops = 0
	case wire.RunnerPrompt:
		agentkit.NoteModel(&d.model, f.Model, t)
		d.prompted(f, t)
	case wire.Abort:
		d.stops++
		if tn != nil {
			tn.stop = true
		}
	case wire.Answer:
		if tn != nil {
			tn.answered(f)
		}
	}
}

// prompted takes a prompt. A prompt that comes again goes on with its turn.
func (d *Decoder) prompted(f wire.RunnerPrompt, t agent.Turns) {
	tn := d.turn
	again := tn != nil && tn.prompt.MessageID == f.MessageID
	switch {
	case again:
		d.effects = append(d.effects, tn.startNextTry()...)
	case tn != nil && tn.end != nil: // a recording in which nobody said complete
		d.end(tn)
	}
	if !again || t.Current() != tn.b {
		b := t.Prompted(promptOf(f))
		switch {
		case b == nil:
			return
		case !again:
			d.turn = newTurn(f, b)
		}
	}
	d.on(works)
}

// promptOf is the prompt that a recording begins a turn with.
func promptOf(f wire.RunnerPrompt) trace.Prompt {
	p := trace.Prompt{By: cmp.Or(f.AuthorName, f.AuthorID), Message: trace.UserMessage{ID: f.MessageID, Parts: []trace.InputPart{{Type: trace.InputText, Text: f.Content}}}}
	if f.ChannelType != "" {
		p.Channel = f.ChannelType + ":" + f.ChannelID
	}
	for _, a := range f.Attachments {
		p.Message.Parts = append(p.Message.Parts, trace.InputPart{Type: trace.InputFile, MediaType: a.MIME, URL: a.URL, Filename: a.Filename})
	}
	return p
}

// said takes what a runner says.
func (d *Decoder) said(f wire.Frame, t agent.Turns) {
	tn := d.open()
	name, prompt := namesIn(f)
	status, is := f.(wire.AgentStatus)
	switch {
	case is && status.Status == wire.StatusIdle:
		d.on(idle)
		return
	case slices.Contains(d.past, name), tn != nil && prompt != "" && prompt != tn.prompt.MessageID:
		return // the frame belongs to another prompt
	case tn != nil && name != "":
		tn.named(name)
		d.on(works)
	}
	switch f := f.(type) {
	case wire.ModelSwitched:
		agentkit.NoteModel(&d.model, f.ToModel, t)
	case wire.UsageReport:
		d.count(tn, f, t)
		return
	}
	for _, n := range notesOf(f) {
		if domain, is := n.(trace.Data); is && domain.Domain && tn != nil {
			tn.b.Emit(n)
		} else {
			t.Note(n)
		}
	}
	switch f.(type) {
	case wire.Complete:
		if tn == nil || tn.heard > 0 || prompt != "" { // else it repeats the end of an earlier prompt
			d.end(tn)
			d.on(completed)
		}
	case wire.Aborted:
		d.aborted(tn)
	default:
		if tn != nil {
			d.tell(tn, f)
		}
	}
}

// aborted takes the runner's word that it has stopped, which names no prompt. The word
// belongs to an earlier turn if the open turn was not stopped and a stop is unconfirmed.
func (d *Decoder) aborted(tn *turn) {
	asked := d.stops > 0
	if asked {
		d.stops--
	}
	switch {
	case tn != nil && !asked: // the runner has stopped by itself
		tn.end = &trace.Stop{Reason: "aborted", Outcome: trace.OutcomeCanceled}
		d.end(tn)
	case asked && (tn == nil || tn.stop):
		d.end(tn)
		d.on(stopped)
	}
}

// end ends a turn, if there is one, as the runner has said.
func (d *Decoder) end(tn *turn) {
	if tn == nil {
		return
	}
	tn.endText()
	d.effects = append(d.effects, tn.withdraw()...)
	end := trace.Stop{Reason: wire.ReasonEndTurn, Outcome: trace.OutcomeCompleted}
	if tn.stop {
		end = trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
	} else if tn.end != nil {
		end = *tn.end
	}
	tn.b.End(end)
	d.retire()
}

// tell makes records of a frame, if the frame belongs to the turn.
func (d *Decoder) tell(tn *turn, f wire.Frame) {
	switch f := f.(type) {
	case wire.MessageCreate:
		tn.endText()
		tn.b.StepStart(trace.Step{NativeID: f.TurnID})
	case wire.TextDelta:
		tn.say(string(f.Delta))
	case wire.ToolUpdate:
		tn.endText()
		tn.tool(f, d.tools)
	case wire.Finalize:
		tn.finalize(f)
	case wire.Error:
		tn.end = &trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: cmp.Or(f.Text(), "Turn failed")}
	case wire.AgentStatus:
		tn.b.Emit(trace.Status{State: trace.State(f.Status), Detail: f.Detail})
	case wire.Question:
		d.effects, d.fault = tn.question(f)
	case wire.ModelSwitched:
		tn.b.Emit(trace.Notice("model_switched", fmt.Sprintf("The model was switched from %s to %s: %s", f.FromModel, f.ToModel, f.Reason)))
	case wire.Screenshot:
		url := f.Data
		if !strings.HasPrefix(url, "data:") {
			url = "data:image/png;base64," + url
		}
		media, _, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";")
		tn.b.Emit(trace.File{URL: url, MediaType: media, Filename: f.Description})
	default:
		return
	}
	tn.heard++
}

// namesIn returns the runner's name of a turn and the id of the prompt, as far as the frame
// names them.
func namesIn(f wire.Frame) (turn, prompt string) {
	switch f := f.(type) {
	case wire.MessageCreate:
		turn = f.TurnID
	case wire.TextDelta:
		turn = f.TurnID
	case wire.ToolUpdate:
		turn = f.TurnID
	case wire.Finalize:
		turn = f.TurnID
	case wire.AgentStatus:
		prompt = f.MessageID
	case wire.Error:
		prompt = f.MessageID
	case wire.Question:
		prompt = f.MessageID
	case wire.Complete:
		prompt = f.MessageID
	}
	return turn, prompt
}
