package uistream

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file passes on chunks of an upstream for which the trace has no word.

// beyond is the name of data that holds a chunk of an upstream of this protocol, as far as
// the trace has no word for the chunk. There are two sorts. A whole chunk stands for itself.
// Further keys of a chunk stand before the record of the same thing, and the chunk that is
// written for that record gets them.
const beyond = "ui-chunk"

// Beyond returns what the trace has no word for in a chunk, as data that an adapter puts on
// record before the chunk's own record, if there is one. It reports false if the trace has
// a word for everything.
func Beyond(c Chunk) (d trace.Data, some bool) {
	var keys Keys
	if e, ok := c.(Extended); ok {
		keys = e.Keys
	}
	some = len(keys) > 0
	switch b := Bare(c).(type) { //nolint:gochecksumtype // the trace has a word for the others
	case Other:
		return beyondData(b, b.Name == "message-metadata" || b.Name == "reset-step"), true
	case Start:
		return beyondData(Start{MessageID: b.MessageID}, true), true
	case ToolApprovalRequest, ToolApprovalResponse:
		some, c = true, b
	case ToolInputStart:
		some, c = some || b.Form != Form{}, ToolInputStart{ToolCallID: b.ToolCallID, Form: b.Form}
	case ToolInputAvailable:
		some, c = some || b.Form != Form{}, ToolInputAvailable{ToolCallID: b.ToolCallID, Form: b.Form}
	case ToolInputError:
		some, c = true, ToolInputError{ToolCallID: b.ToolCallID, ErrorText: b.ErrorText, Form: b.Form}
	case ToolOutputAvailable:
		c = ToolOutputAvailable{ToolCallID: b.ToolCallID, Form: b.Form}
	case ToolOutputError:
		c = ToolOutputError{ToolCallID: b.ToolCallID, Form: b.Form}
	case TextStart, TextEnd, ReasoningStart, ReasoningEnd, SourceURL, SourceDocument, File:
		c, _ = reflect.TypeAssert[Chunk](reflect.Zero(reflect.TypeOf(b)))
	default:
		return trace.Data{}, false
	}
	if !some {
		return trace.Data{}, false
	}
	return beyondData(Extended{c, keys}, true), true
}

func beyondData(c Chunk, domain bool) trace.Data {
	return trace.Data{Name: beyond, Value: AppendChunk(nil, c), Domain: domain}
}

// ReadBeyond reads what Beyond has put on record.
func ReadBeyond(p trace.Payload) (Chunk, bool) {
	d, is := p.(trace.Data)
	if !is || d.Name != beyond {
		return nil, false
	}
	c, err := ParseChunk(d.Value)
	return c, err == nil
}

// passOn takes what the trace has no word for.
func (t *Translator) passOn(turn string, value json.RawMessage) {
	c, err := ParseChunk(value)
	if err != nil {
		return
	}
	switch c := c.(type) { //nolint:gochecksumtype // the others have no keys
	case Extended:
		c.Keys.disown()
	case Other:
		c.Keys.disown()
	}
	switch b := Bare(c).(type) { //nolint:gochecksumtype // the others are written for records of their own
	case Other:
		t.begin(turn)
		t.other(b)
		return
	case ToolApprovalResponse:
		t.begin(turn)
		t.automatic(c)
		return
	case Start:
		t.native = b.MessageID
		return
	case ToolInputStart:
		t.formed(b.ToolCallID, b.Form)
	case ToolInputAvailable:
		t.formed(b.ToolCallID, b.Form)
	case ToolInputError:
		t.formed(b.ToolCallID, b.Form)
		put(&t.unusable, b.ToolCallID, b.ErrorText)
	case ToolApprovalRequest:
		if e, is := c.(Extended); is && string(e.Keys["isAutomatic"]) == "true" {
			t.begin(turn)
			t.automatic(c)
			return
		}
		put(&t.asks, b.ToolCallID, b.ApprovalID)
	}
	if e, is := c.(Extended); is {
		put(&t.further, furtherKey(e.Chunk), e.Keys)
		t.ofUpstream(e)
	}
}

// disown removes the gateway's own facts from what an upstream says. Otherwise an upstream
// could say that a person has allowed a call, or has stopped the turn.
func (k Keys) disown() {
	if value, has := k[messageMetadataKey]; has {
		k[messageMetadataKey] = trace.AgentMetadata(value)
	}
	meta := map[string]json.RawMessage{}
	if json.Unmarshal(k[metadataKey], &meta) != nil {
		return
	}
	if _, has := meta[factsKey]; has {
		delete(meta, factsKey)
		k[metadataKey] = quote.JSON(meta)
	}
}

// ofUpstream notes the metadata of a call: the clients would forget it when they read our own.
func (t *Translator) ofUpstream(e Extended) {
	meta, some := e.Keys[metadataKey]
	if !some || !t.options.Profile.accepts(e.Type(), metadataKey, meta) {
		return
	}
	switch e.Chunk.(type) { //nolint:gochecksumtype // no other begins a call
	case ToolInputStart, ToolInputAvailable:
		t.call(CallOf(e.Chunk)).upstream = meta
	}
}

// formed notes the form of a call, before the call is shown: the clients make two parts of
// a call whose form changes.
func (t *Translator) formed(toolCallID string, f Form) {
	if c := t.call(toolCallID); c.state == callUnseen {
		c.form = f
	}
}

// other shows a whole chunk: as it is, or to clients that do not know it as a data part.
func (t *Translator) other(c Other) {
	switch {
	case c.Name == partText || c.Name == partReasoning:
		t.needStep()
		t.empty(c)
	case !c.passes(t.options.Profile):
		name := trace.AgentDataName(strings.TrimPrefix(c.Name, dataPrefix))
		t.emit(Data{Name: trace.CleanDataName(name), Value: quote.JSON(c.Keys)})
	default:
		switch c.Name {
		case "message-metadata":
		case "reset-step":
			t.forgetStep()
		default:
			t.needStep()
		}
		t.emit(Other{c.Name, c.Keys.safe(t.options.Profile, c.Name)})
	}
}

// forgetStep forgets the calls of the step, as the client does.
func (t *Translator) forgetStep() {
	t.closeParts()
	for _, c := range t.order {
		if c.step != t.steps || c.state == callUnseen || c.state == callSettled {
			continue
		}
		if c.state == callWriting {
			t.writing--
		}
		c.state, c.input = callSettled, nil
	}
	t.stepCalls = nil
}

// empty shows a part without words.
func (t *Translator) empty(c Other) {
	id := fmt.Sprintf("empty-%d", len(t.parts))
	p := t.part(id, c.Name == partReasoning)
	start, end := Chunk(TextStart{id}), Chunk(TextEnd{id})
	if p.thought {
		start, end = ReasoningStart{id}, ReasoningEnd{ID: id}
	}
	p.ended = true
	t.emit(start)
	put(&t.further, furtherKey(end), c.Keys)
	t.emit(end)
}

// automatic shows a request that the upstream itself answers, and its answer. A client that
// does not know of such a request would ask its user.
func (t *Translator) automatic(c Chunk) {
	b, keys := Bare(c), Keys{}
	if e, is := c.(Extended); is {
		keys = e.Keys
	}
	if !t.can.approvalResponse || !t.options.Profile.knows("tool-approval-request", "isAutomatic") {
		t.emit(Data{Name: b.Type(), Value: withoutType(c)})
		return
	}
	switch b := b.(type) { //nolint:gochecksumtype // there are no others
	case ToolApprovalRequest:
		t.surface(t.call(b.ToolCallID))
		t.call(b.ToolCallID).approval = b.ApprovalID
		put(&t.automated, b.ApprovalID, b.ToolCallID)
	case ToolApprovalResponse:
		id, asked := t.automated[b.ApprovalID]
		if !asked {
			return
		}
		t.call(id).allowed = b.Approved
	}
	t.emit(Extended{b, keys.safe(t.options.Profile, b.Type())})
}

func withoutType(c Chunk) json.RawMessage {
	var k Keys
	_ = json.Unmarshal(AppendChunk(nil, c), &k) // it is what this package wrote
	delete(k, "type")
	return quote.JSON(k)
}

// extend gives a chunk the further keys that are noted for it.
func (t *Translator) extend(c Chunk) Chunk {
	key := furtherKey(Bare(c))
	keys, ok := t.further[key]
	if !ok {
		return c
	}
	delete(t.further, key)
	if keys = keys.safe(t.options.Profile, c.Type()); len(keys) == 0 {
		return c
	}
	if e, is := c.(Extended); is { // the upstream's facts beside our own
		keys[metadataKey] = mergeMetadata(keys[metadataKey], e.Keys[metadataKey])
	}
	return Extended{Bare(c), keys}
}

// furtherKey finds the further keys of a chunk: by its call, or as the next of its type.
func furtherKey(c Chunk) string { return c.Type() + " " + CallOf(c) }
