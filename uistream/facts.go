package uistream

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file says of calls, and of texts of the gateway's own, what the AI SDK has no field for.

// factsKey is the gateway's own key in the providerMetadata of a text, a call and its result. All
// facts come from records, so a replay says the same.
const factsKey = "tributary"

// callFacts are the facts of a call.
type callFacts struct {
	Kind trace.ToolKind `json:"kind,omitempty"`
	// StartedAt is when the agent made the call.
	StartedAt string `json:"started_at,omitempty"`
	// InputText is the input as a text, if a browser's JSON.parse would lose some of it.
	InputText string `json:"input_text,omitempty"`
	// Decision is the answer to the call's permission request, or to the question that is the call.
	Decision *decision `json:"decision,omitempty"`
}

// decision says who answered a request, and how, as far as the AI SDK has no field for it.
type decision struct {
	Outcome trace.PermissionOutcome `json:"outcome"`
	By      string                  `json:"by,omitempty"`
	Option  string                  `json:"option,omitempty"` // the name of the chosen one
	Edited  bool                    `json:"edited,omitempty"` // with another input
}

func (a *approval) decision() *decision {
	d := &decision{Outcome: a.answer.Outcome, By: a.answer.By, Edited: len(a.answer.UpdatedInput) > 0}
	for _, o := range a.request.Options {
		if o.ID == a.answer.ChosenOption {
			d.Option = o.Name
		}
	}
	return d
}

// textFacts are the facts of a text that only says in words what a request asks. A page that
// has buttons for the request can tell the text from an agent's own words.
type textFacts struct {
	Request string `json:"request"`
}

// resultFacts are the facts of a result. The duration is that of the run: the wait for a
// person's permission is not in it.
type resultFacts struct {
	DurationMS int64 `json:"duration_ms"`
}

// noted adds facts to a chunk, beside what is noted there.
func noted[facts textFacts | callFacts | resultFacts](c Chunk, beside json.RawMessage, f facts) Chunk {
	return Extended{c, Keys{metadataKey: mergeMetadata(beside, quote.JSON(map[string]facts{factsKey: f}))}}
}

// started emits the beginning of a call.
func (t *Translator) started(c *call) {
	chunk := Chunk(ToolInputStart{ToolCallID: c.id, ToolName: c.name, Title: t.titleOf(c), Form: c.form})
	if t.can.startFacts && c.kind != "" {
		chunk = noted(chunk, c.upstream, callFacts{Kind: c.kind})
	}
	t.emit(chunk)
}

func (t *Translator) available(c *call) Chunk {
	chunk := Chunk(ToolInputAvailable{ToolCallID: c.id, ToolName: c.name, Title: t.titleOf(c), Input: c.input, Form: c.form})
	f := c.facts()
	if !t.can.callFacts || f == (callFacts{}) {
		return chunk
	}
	return noted(chunk, c.upstream, f)
}

func (c *call) facts() callFacts {
	f := callFacts{Kind: c.kind, InputText: quote.InputText(c.input)}
	if !c.since.IsZero() {
		f.StartedAt = c.since.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	return f
}

// responded emits the answer to a request. The clients put its metadata in the place of the call's.
func (t *Translator) responded(a *approval) {
	chunk := Chunk(ToolApprovalResponse{ApprovalID: t.approvalID(a), Approved: a.answer.Allowed(), Reason: a.answer.Reason})
	if t.can.callFacts {
		f := a.call.facts()
		f.Decision = a.decision()
		chunk = noted(chunk, a.call.upstream, f)
	}
	t.emit(chunk)
}

// answered emits the answer to a question.
func (t *Translator) answered(p trace.Answer, chunk Chunk) {
	if t.can.resultFacts {
		chunk = noted(chunk, nil, callFacts{Decision: &decision{Outcome: p.Outcome, By: p.By}})
	}
	t.emit(chunk)
}

// ended emits the output of a call, or why there is none.
func (t *Translator) ended(c *call, result Chunk) {
	if t.can.resultFacts && !c.ran.IsZero() {
		result = noted(result, nil, resultFacts{DurationMS: max(0, t.now.UnixMilli()-c.ran.UnixMilli())}) // of the wall clock, which a record on disk has too
	}
	t.emit(result)
}
