package langgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// turn is what the graph did for one prompt. A turn has several runs if the graph
// interrupts itself.
type turn struct {
	o     Options
	tools toolkind.Table
	b     *trace.Builder
	// out is b, or nowhere while the stream repeats what is on record.
	out, nowhere *trace.Builder

	prompt    string
	fresh     bool               // a step is open and empty
	speeches  map[string]*speech // by the ids of their messages
	newest    map[string]*speech // of each place
	order     []*speech          // that are not done
	speaker   *speech            // that was announced last
	unnamed   int                // messages without an id
	plain     map[string]bool
	calls     map[string]*toolCall
	callOrder []*toolCall
	cited     map[string]bool
	known     map[string]bool // ids of messages of earlier turns, and of people
	total     trace.Usage
	finish    string
	class     trace.Class // of the failure
	requests  []*request  // of the newest run
	early     []*request  // that have answers, and that the graph asks again
	note      func(trace.Payload)
	model     bool // the turn has told its model; a graph may use several

	// The records of an earlier process, see reattach.go.
	skip     string
	begun    []string
	finished map[string]bool
}

func newTurn(b *trace.Builder, o Options, tools toolkind.Table) *turn {
	return &turn{
		b: b, out: b, nowhere: agentkit.Nowhere(), o: o, tools: tools, speeches: map[string]*speech{}, newest: map[string]*speech{}, plain: map[string]bool{}, calls: map[string]*toolCall{},
		cited: map[string]bool{}, known: map[string]bool{}, finished: map[string]bool{},
	}
}

// to returns where a message or a call is written.
func (t *turn) to(hidden bool) *trace.Builder {
	if hidden {
		return t.nowhere
	}
	return t.out
}

// holds counts what the turn keeps of a message or a call that is not put on record. The Builder
// counts the others.
func (t *turn) holds(hidden bool, bytes int) {
	if bytes != 0 && t.to(hidden) == t.nowhere {
		t.b.Hold(bytes)
	}
}

// know notes the id of a message that is not to be put on record again.
func (t *turn) know(id string) {
	if !t.known[id] {
		t.known[id] = true
		agentkit.CountKept(t.b, id)
	}
}

// source is where a message came from: its place, and what is known of it.
type source struct {
	at place
	// known says that the message was announced elsewhere, so that one that nobody
	// knows belongs to the history.
	known bool
	// partial says that the message is not over.
	partial bool
}

// message takes a message, or a piece of one.
func (t *turn) message(m message, from source) {
	switch m.role {
	case assistant:
		t.assistant(m, from)
	case toolRole:
		if (!t.known[m.id] || m.id == "") && (!from.known || t.calls[m.callID] != nil) {
			t.answered(m, from.at)
		}
	case human:
		if !from.known {
			t.person(m, from.at)
		}
	case other:
	}
}

func (t *turn) assistant(m message, from source) {
	id := m.id
	switch full := m.full(words); {
	case id == "" && m.delta:
		id = t.unnamedAt(from.at)
	case id == "": // a plain object, which has an id in the state only
		t.plain[full] = true
		t.holds(!t.o.shows(from.at), len(full))
		t.unnamed++
		id = fmt.Sprintf("unnamed-%d", t.unnamed)
	case t.known[id], t.speeches[id] == nil && (from.known || t.plain[full]):
		return
	}
	if o := t.newest[from.at.key()]; t.speeches[id] == nil && !m.delta && !from.partial && o != nil && o.is(m) {
		t.speeches[id] = o
		agentkit.CountKept(t.b, id)
	}
	s := t.speech(id, t.o.speaker(from.at, m), from.at)
	s.grows = m.delta || from.partial
	if m.delta {
		for _, b := range m.content {
			t.add(s, b)
		}
		for _, p := range m.chunks {
			t.chunk(s, p)
		}
	} else {
		t.whole(s, m)
	}
	switch {
	case from.partial:
		for _, c := range m.calls {
			t.to(t.own(s, c.ID, c.Name).hidden).ToolCallSnapshot(c.ID, c.Args)
		}
	case !m.delta:
		t.wholeCalls(s, m)
	}
	t.count(s, m, from.at)
	t.tellModel(m, from.at)
	if m.last || !m.delta && !from.partial {
		s.finish = cmp.Or(m.finish, s.finish)
		t.written(s)
		t.end(s)
	}
}

// is reports whether a whole message is what the speech has said in pieces: some graphs give the message another
// id then, and some add to its text.
func (s *speech) is(m message) bool {
	said := s.texts[words].String()
	return s.grows && said != "" && strings.HasPrefix(m.full(words), said) &&
		!slices.ContainsFunc(m.calls, func(c call) bool { return s.own[c.ID] == nil })
}

// unnamedAt is the id of a message that has none: one model speaks at a time at a place.
func (t *turn) unnamedAt(at place) string {
	for {
		id := fmt.Sprintf("%s/%s-%d", at.namespace, at.node, t.unnamed)
		if s := t.speeches[id]; s == nil || !s.done {
			return id
		}
		t.unnamed++
	}
}

// count takes the usage of a message, once. Some models say it in two pieces.
func (t *turn) count(s *speech, m message, at place) {
	if m.usage == nil || !m.delta && s.usage != nil {
		return
	}
	u := *m.usage
	if s.done {
		t.total = t.total.Plus(u)
	}
	if s.usage != nil {
		u = u.Plus(*s.usage)
	}
	u.Scope, u.Model = trace.UsageStep, cmp.Or(m.model, at.model)
	s.usage = &u
	t.to(s.hidden).Emit(u)
	if s.done { // the usage comes behind the last word, as OpenAI sends it
		t.silent(s)
	}
}

// tellModel tells the first model of the turn whose words a user sees.
func (t *turn) tellModel(m message, at place) {
	model := cmp.Or(m.model, at.model)
	if t.model || model == "" || !t.o.shows(at) {
		return
	}
	t.model = true
	t.note(trace.AgentInfo{Provider: at.provider, Model: model}.Payload())
}

// person takes a message that the graph wrote in the name of a person. The prompt is one,
// too.
func (t *turn) person(m message, at place) {
	full := m.full(words)
	if m.id != "" && t.known[m.id] || full == t.prompt || !t.o.shows(at) {
		return
	}
	t.know(m.id)
	t.out.EmitOwn(trace.Data{Name: "user-message", ID: m.id, Value: agentkit.Encode(map[string]string{"text": full, "name": m.name, "node": at.node})})
}

// remember takes messages of earlier turns. The user has seen them.
func (t *turn) remember(all []message) {
	for _, m := range all {
		if m.id != "" && t.speeches[m.id] == nil {
			t.know(m.id)
		}
		for _, one := range m.calls {
			if t.calls[one.ID] == nil { // a later stream may run it
				c := &toolCall{id: one.ID, name: one.Name, args: one.Args}
				t.calls[c.id], t.callOrder = c, append(t.callOrder, c)
				agentkit.CountKept(t.b, c.id, c.name, string(c.args))
			}
		}
		if c := t.calls[m.callID]; c != nil && !c.begun {
			c.begun, c.done, c.hidden = true, true, true
		}
	}
}

// custom passes on an event of the graph's own. With an id, it stays and later ones replace
// it; without, it is shown and forgotten.
func (t *turn) custom(name string, value raw) {
	o := objectOf(value)
	name = cmp.Or(name, o.text("type"), "custom")
	if o == nil {
		value = agentkit.Encode(map[string]raw{"value": value})
	}
	id := o.text("id")
	t.out.Emit(trace.Data{Name: name, ID: id, Value: value, Transient: id == ""})
}

// stop ends the turn.
func (t *turn) stop(reason, failure string) {
	t.close(func(*speech) bool { return true })
	for _, c := range t.callOrder {
		if c.failing {
			t.result(c, nil, cmp.Or(failure, "The tool failed, and the server does not say why."))
		}
	}
	s := trace.Stop{Reason: reason, Outcome: trace.OutcomeCompleted, Error: failure}
	switch {
	case failure != "":
		s.Outcome, s.Class = trace.OutcomeFailed, t.class
	case reason == "":
		s.Reason = cmp.Or(map[string]string{"length": "length", "max_tokens": "length", "content_filter": "content-filter", "refusal": "content-filter"}[t.finish], "stop")
	default:
		s.Outcome = trace.OutcomeCanceled
	}
	if t.total != (trace.Usage{}) {
		t.total.Scope, t.total.Model = trace.UsageTurn, ""
		t.b.Emit(t.total)
	}
	t.b.End(s)
}
