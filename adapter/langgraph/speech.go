package langgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// speech is a message of the assistant, or of one of several speakers, as it grows. All
// state is kept by the message: two models may speak at the same time.
type speech struct {
	id     string
	who    string
	at     place
	hidden bool // the user does not see it as a message
	data   bool // but as one data part with the whole text
	done   bool
	grows  bool // no whole message has come yet

	parts     int    // begun so far
	key       string // of the open part, or ""
	kind      kind   // of the open part
	sign      string // the signature of the open thought
	texts     [2]strings.Builder
	files     int
	announced []string // ids of the data that announced the speaker
	resumed   bool     // an earlier process began a part of it

	calls  map[int]*toolCall    // by their index in the message
	own    map[string]*toolCall // by their ids
	usage  *trace.Usage
	finish string
}

// speech returns the speech of a message, and begins it if need be.
func (t *turn) speech(id string, who string, at place) *speech {
	s := t.speeches[id]
	if s == nil {
		agentkit.CountKept(t.b, id, who, at.key())
		s = &speech{id: id, who: who, at: place{node: at.node, namespace: at.namespace}, calls: map[int]*toolCall{}, own: map[string]*toolCall{}}
		t.speeches[id] = s
		t.order = append(t.order, s)
		t.newest[at.key()] = s
		s.data = at.namespace != "" && t.o.Subgraphs == "data" && t.o.shows(at)
		s.hidden = s.data || !t.o.shows(at)
		t.open(s)
	}
	if s.who == "" {
		s.who = who
		t.holds(s.hidden, len(who))
		t.announce(s, s.id, map[bool]string{false: "speaking", true: "done"}[s.done && who != ""])
	}
	return s
}

// open begins a step, unless another speaker is in the middle of a message: a step would
// end what that speaker says.
func (t *turn) open(s *speech) {
	switch {
	case s.hidden:
		return
	case t.fresh || slices.ContainsFunc(t.order, func(o *speech) bool { return o != s && !o.hidden }):
		t.fresh = false
	default:
		t.step(trace.Step{Name: s.at.node, NativeID: s.id})
	}
	t.announce(s, s.id, "speaking")
}

// step begins a step, unless an earlier process has begun it: then what follows is new.
func (t *turn) step(s trace.Step) {
	if t.skip == "" {
		t.b.StepStart(s)
	} else if t.skip == s.NativeID {
		t.skip, t.out = "", t.b
	}
}

// announce says who speaks. All parts belong to the speaker that was announced last, so a
// speaker who goes on after another one is announced again.
func (t *turn) announce(s *speech, id, state string) {
	if s.hidden || s.who == "" && (t.speaker == nil || t.speaker.who == "") {
		return
	}
	if state == "speaking" {
		t.speaker = s
		s.announced = append(s.announced, id)
		t.holds(s.hidden, len(id))
	}
	p := participant{Participant: s.who, MessageID: s.id, Node: s.at.node, Namespace: s.at.namespace, State: state}
	if s.usage != nil {
		p.Usage = &tokens{s.usage.InputTokens, s.usage.OutputTokens}
	}
	t.out.Emit(trace.Data{Name: "participant", ID: id, Value: agentkit.Encode(p)})
}

// speaks announces a speaker again, if another one was announced meanwhile.
func (t *turn) speaks(s *speech, id string) {
	if t.speaker != nil && t.speaker != s {
		t.announce(s, id, "speaking")
	}
}

// participant is the value of the data that says who speaks.
type participant struct {
	Participant string  `json:"participant"`
	MessageID   string  `json:"messageId"`
	Node        string  `json:"node,omitempty"`
	Namespace   string  `json:"namespace,omitempty"`
	State       string  `json:"state"`
	Usage       *tokens `json:"usage,omitempty"`
}

type tokens struct {
	Input  int64 `json:"inputTokens"`
	Output int64 `json:"outputTokens"`
}

// add says one block.
func (t *turn) add(s *speech, b block) {
	if b.kind == picture {
		s.files++
		t.endPart(s)
		t.speaks(s, fmt.Sprintf("%s:file-%d", s.id, s.files))
		t.to(s.hidden).Emit(b.file)
		return
	}
	if b.text != "" {
		s.texts[b.kind].WriteString(b.text)
		t.holds(s.hidden, len(b.text))
		t.say(s, b)
	}
	if b.signature != "" && s.kind == thought {
		s.sign = b.signature
	}
	for _, source := range b.sources {
		if !s.hidden && !t.cited[source.URL] {
			t.cited[source.URL] = true
			t.holds(s.hidden, len(source.URL))
			t.out.Emit(source)
		}
	}
}

// say writes a text or a thought. The first part of a speech of an earlier process repeats what
// is on record.
func (t *turn) say(s *speech, b block) {
	to := agentkit.VoiceOf(t.to(s.hidden), b.kind == thought)
	if s.key == "" || s.kind != b.kind {
		t.endPart(s)
		s.parts++
		s.key, s.kind = fmt.Sprintf("%s:%d", s.id, s.parts), b.kind
		t.speaks(s, s.key)
		if len(t.begun) > 0 && t.skip == "" && !s.hidden {
			to.Repeats(s.key, t.begun[0])
			s.resumed, t.begun = true, t.begun[1:]
		}
	}
	to.Delta(s.key, b.text)
}

// endPart ends the text or the thought that is being written.
func (t *turn) endPart(s *speech) {
	if s.key != "" {
		agentkit.VoiceOf(t.to(s.hidden), s.kind == thought).End(s.key, s.sign)
	}
	s.key, s.sign = "", ""
}

// whole says what a whole message, or a snapshot, has beyond the deltas.
func (t *turn) whole(s *speech, m message) {
	fresh := s.texts[words].Len()+s.texts[thought].Len() == 0
	files := 0
	for _, b := range m.content {
		if b.kind == picture {
			if files++; files > s.files {
				t.add(s, b)
			}
		} else if fresh {
			t.add(s, b)
		} else {
			t.add(s, block{kind: b.kind, signature: b.signature, sources: b.sources})
		}
	}
	for _, k := range []kind{thought, words} {
		if more, ok := strings.CutPrefix(m.full(k), s.texts[k].String()); ok && more != "" && !fresh {
			t.add(s, block{kind: k, text: more})
		}
	}
}

// silent says that a speaker has said all.
func (t *turn) silent(s *speech) {
	for _, id := range s.announced {
		t.announce(s, id, "done")
	}
}

// end ends a speech.
func (t *turn) end(s *speech) {
	if s.done {
		return
	}
	s.done = true
	t.endPart(s)
	if s.usage != nil {
		t.total = t.total.Plus(*s.usage)
	}
	t.finish = cmp.Or(s.finish, t.finish)
	if s.finish != "" {
		t.to(s.hidden).StepFinish(s.finish)
	}
	t.silent(s)
	if s.data {
		t.out.EmitOwn(trace.Data{Name: "subgraph-message", ID: s.id, Value: agentkit.Encode(map[string]any{
			"participant": s.who, "node": s.at.node, "namespace": s.at.namespace, "text": s.texts[words].String(),
		})})
	}
	t.order = slices.DeleteFunc(t.order, func(o *speech) bool { return o == s })
}

// close ends the speeches that are over.
func (t *turn) close(over func(*speech) bool) {
	for _, s := range slices.Clone(t.order) {
		if over(s) {
			t.end(s)
		}
	}
}
