package uistream

import (
	"cmp"
	"fmt"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file translates records that become data parts, sources and files.

// Records with a kind of their own become data parts with a fixed id, so that a
// client updates them in place. A notice has no id: each is a new part.

func (t *Translator) usage(p trace.Usage) {
	t.emit(Data{Name: "usage", ID: "usage-" + string(p.Scope), Value: quote.JSON(p)})
}

func (t *Translator) plan(p trace.Plan) {
	if p.Entries == nil {
		p.Entries = []trace.PlanEntry{}
	}
	t.emit(Data{Name: "plan", ID: "plan", Value: quote.JSON(p)})
}

func (t *Translator) fileChange(p trace.FileChange) {
	id := "file-" + p.Path
	if p.ToolCallID != "" { // another call's change of the file stays
		id += "-" + p.ToolCallID
	}
	t.emit(Data{Name: "file-change", ID: id, Value: quote.JSON(p)})
}

func (t *Translator) notice(p trace.Error) {
	if t.options.Native {
		return
	}
	t.emit(Data{Name: "notice", Value: quote.JSON(p)})
}

// status is shown while it lasts, and not kept.
func (t *Translator) status(p trace.Status) {
	t.emit(Data{Name: "agent-status", Transient: true, Value: quote.JSON(struct {
		Status trace.State `json:"status"`
		Detail string      `json:"detail,omitempty"`
	}{p.State, p.Detail})})
}

func (t *Translator) data(p trace.Data) {
	t.speaks(p)
	t.emit(Data{Name: trace.CleanDataName(p.Name), ID: p.ID, Value: SafeJSON(p.Value), Transient: p.Transient})
}

func (t *Translator) source(p trace.Source) {
	t.needStep()
	t.sources++
	p.SourceID = cmp.Or(p.SourceID, fmt.Sprintf("source-%d", t.sources))
	if p.URL != "" {
		t.emit(SourceURL{SourceID: p.SourceID, URL: p.URL, Title: p.Title})
		return
	}
	t.emit(SourceDocument{SourceID: p.SourceID, MediaType: mediaType(p.MediaType), Title: cmp.Or(p.Title, p.Filename), Filename: p.Filename})
}

func (t *Translator) file(p trace.File) {
	t.needStep()
	t.emit(File{URL: p.URL, MediaType: mediaType(p.MediaType)})
}

func mediaType(s string) string { return cmp.Or(s, "application/octet-stream") }
