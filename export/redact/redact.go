// Package redact removes what people, agents and tools have said from a turn before it is exported.
//
// There is one function for all formats, which changes the turn that the encoders read: so no
// encoder can forget a text. Names of tools and models, kinds, numbers, times and ids stay.
package redact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// Class is a kind of content.
type Class string

// The classes.
const (
	Prompt     Class = "prompt"      // what users asked and answered, and inputs that they changed
	Output     Class = "output"      // what the agent said, asked, planned and summed up
	Reasoning  Class = "reasoning"   // what it thought
	ToolInput  Class = "tool-input"  // what tools were called with, and how tools are described
	ToolOutput Class = "tool-output" // what they returned
	Title      Class = "title"       // titles of calls and requests, which quote inputs
	Error      Class = "error"       // sentences of errors, notices and refusals
	Person     Class = "person"      // who asked and answered, and where
	Path       Class = "path"        // files
)

// Classes are all classes.
func Classes() []Class {
	return []Class{Prompt, Output, Reasoning, ToolInput, ToolOutput, Title, Error, Person, Path}
}

// Parse returns the classes to drop when only the given ones may be exported: "all", "none", or
// classes with commas between them.
func Parse(keep string) (drop []Class, err error) {
	switch keep {
	case "all":
		return nil, nil
	case "none":
		return Classes(), nil
	}
	drop = Classes()
	for name := range strings.SplitSeq(keep, ",") {
		at := slices.Index(drop, Class(name))
		if at < 0 {
			return nil, fmt.Errorf("content %q is no class: use all, none, or some of %s with commas between them", name, list())
		}
		drop = slices.Delete(drop, at, at+1)
	}
	return drop, nil
}

func list() string {
	var names []string
	for _, c := range Classes() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// Formats are the formats of an export that have the filter: content, turn, message, denied and
// subagents, and version, which is that of ATIF. It is nil for a name of no filter.
func Formats(filter string) []string {
	switch filter {
	case "content", "turn", "message", "denied", "subagents":
		return []string{"atif", "otlp", "otlp-protobuf"}
	case "version":
		return []string{"atif"}
	}
	return nil
}

// Filter says which part of a session is exported.
type Filter struct {
	// Agent is what is known of the agent beside the trace.
	Agent trace.AgentInfo
	// Drop are the classes of content that are left out.
	Drop []Class
	// Turn, if given, is the only turn.
	Turn string
	// NoDenied leaves out calls that were refused; their permissions stay. NoSubagents leaves out
	// the work of sub-agents.
	NoDenied, NoSubagents bool
}

// Has reports whether the turn is exported.
func (f Filter) Has(t *reader.Turn) bool { return f.Turn == "" || f.Turn == t.ID }

// Apply removes from a turn all that is not exported.
func (f Filter) Apply(t *reader.Turn) {
	t.Agent = f.Agent.With(t.Agent)
	Turn(t, f.Drop)
	denied := func(c *reader.Call) bool { return f.NoDenied && c.Status() == trace.ToolDenied }
	out := func(a *reader.Actor) bool { return f.NoSubagents && a.Subagent() }
	for _, a := range t.Actors {
		if c := a.Call; c != nil && (denied(c) || out(c.Actor)) {
			a.Call = nil
		}
		for _, st := range a.Steps {
			st.Parts = slices.DeleteFunc(st.Parts, func(p *reader.Part) bool { return p.Call != nil && denied(p.Call) })
		}
	}
	for _, c := range t.Calls {
		if c.Sub != nil && out(c.Sub) {
			c.Sub = nil
		}
	}
	for _, q := range t.Requests {
		if c := q.Call; c != nil && c.Continues == "" && denied(c) {
			q.Call = nil
		}
	}
	t.Actors = slices.DeleteFunc(t.Actors, out)
	t.Calls = slices.DeleteFunc(t.Calls, func(c *reader.Call) bool { return denied(c) || out(c.Actor) })
	t.Requests = slices.DeleteFunc(t.Requests, func(q *reader.Request) bool { return out(q.Actor) })
	t.Questions = slices.DeleteFunc(t.Questions, func(q *reader.Question) bool { return out(q.Actor) })
}

// Turn removes the given classes from a turn.
func Turn(t *reader.Turn, drop []Class) {
	if len(drop) == 0 {
		return
	}
	d := dropping(drop)
	t.Agent = Agent(t.Agent, drop)
	for _, p := range t.Prompts {
		d.prompt(&p.Prompt)
	}
	d.word(Error, &t.Stop.Reason)
	gone(d, Output, &t.Stop.FinalOutput)
	gone(d, Error, &t.Stop.Error)
	for _, a := range t.Actors {
		d.word(Title, &a.Name)
		for _, s := range a.Steps {
			d.step(s)
		}
	}
	for _, c := range slices.Concat(t.Calls, t.Continued) {
		d.call(c)
	}
	for _, q := range t.Requests {
		d.request(q)
	}
	for _, q := range t.Questions {
		d.question(q)
	}
	for _, n := range t.Notes {
		n.Payload = d.note(n.Payload)
	}
	for _, s := range t.Scores {
		d.word(Title, &s.Case, &s.Name)
		gone(d, Error, &s.Reason)
		gone(d, Person, &s.By)
		for i := range s.Evidence {
			d.word(Title, &s.Evidence[i])
		}
		s.Evidence = slices.DeleteFunc(s.Evidence, func(id string) bool { return id == "" })
	}
}

// Agent removes the given classes from what is known of an agent.
func Agent(a trace.AgentInfo, drop []Class) trace.AgentInfo {
	if len(drop) == 0 {
		return a
	}
	d := dropping(drop)
	a.Tools = slices.Clone(a.Tools)
	for i := range a.Tools {
		d.word(Title, &a.Tools[i].Name)
		gone(d, ToolInput, &a.Tools[i].Description)
		gone(d, ToolInput, &a.Tools[i].InputSchema)
	}
	return a
}

type dropping []Class

func (d dropping) has(c Class) bool { return slices.Contains(d, c) }

// gone removes values of a class that is dropped.
func gone[T any](d dropping, c Class, values ...*T) {
	if d.has(c) {
		for _, v := range values {
			*v = *new(T)
		}
	}
}

// word leaves a name of a tool, or an agent's word for a reason: what models take for the name of a
// tool. Any other text is a title, a command, a path or a sentence in its place.
func (d dropping) word(c Class, words ...*string) {
	const bytes = 128
	for _, s := range words {
		if d.has(c) && (len(*s) > bytes || strings.Trim(*s, letters+"_-:") != "") {
			*s = ""
		}
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// media leaves the type of a file without its parameters, which can be any text.
func (dropping) media(t *string) {
	kind, _, _ := strings.Cut(*t, ";")
	kind = strings.TrimSpace(kind)
	top, sub, _ := strings.Cut(kind, "/")
	known := []string{"application", "audio", "font", "image", "message", "model", "multipart", "text", "video"}
	if *t = kind; !slices.Contains(known, top) || sub == "" || len(sub) > 100 || strings.Trim(sub, letters+"+.-") != "" {
		*t = ""
	}
}

// place leaves an address in the web, and data. Any other one is the path of a file.
func (d dropping) place(address *string) {
	web := func(scheme string) bool { return strings.HasPrefix(*address, scheme) }
	if !slices.ContainsFunc([]string{"https://", "http://", "data:"}, web) {
		gone(d, Path, address)
	}
}

func (d dropping) prompt(p *trace.Prompt) {
	gone(d, Person, &p.By, &p.Channel)
	gone(d, Prompt, &p.Message.Parts)
	gone(d, Prompt, &p.Message.Metadata)
	p.Message.Parts = slices.Clone(p.Message.Parts)
	for i := range p.Message.Parts {
		part := &p.Message.Parts[i]
		gone(d, Path, &part.Filename)
		d.media(&part.MediaType)
		d.place(&part.URL)
	}
}

func (d dropping) step(s *reader.Step) {
	d.word(Title, &s.Name)
	d.word(Error, &s.Finish)
	for _, p := range s.Parts {
		if p.Thought {
			gone(d, Reasoning, &p.Text)
		} else {
			gone(d, Output, &p.Text)
		}
	}
}

func (d dropping) call(c *reader.Call) {
	d.word(Title, &c.RawName, &c.Name)
	gone(d, Title, &c.Title)
	gone(d, ToolInput, &c.Input)
	gone(d, ToolInput, &c.InputText)
	gone(d, Reasoning, &c.ProviderState)
	gone(d, Path, &c.Locations)
	for _, q := range c.Requests { // also those of later turns
		d.request(q)
	}
	if c.Result == nil {
		return
	}
	r := *c.Result
	gone(d, ToolOutput, &r.Output)
	gone(d, Error, &r.Error)
	gone(d, Path, &r.Locations)
	c.Result = &r
}

func (d dropping) request(q *reader.Request) {
	gone(d, Title, &q.Title)
	q.Options = slices.Clone(q.Options)
	for i := range q.Options {
		gone(d, Title, &q.Options[i].Name)
	}
	if q.Response == nil {
		return
	}
	r := *q.Response
	gone(d, Prompt, &r.UpdatedInput)
	gone(d, Person, &r.By)
	gone(d, Error, &r.Reason)
	q.Response = &r
}

func (d dropping) question(q *reader.Question) {
	gone(d, Output, &q.Header, &q.Text)
	gone(d, Output, &q.Choices)
	if q.Answer == nil {
		return
	}
	a := *q.Answer
	gone(d, Person, &a.By)
	gone(d, Error, &a.Reason)
	gone(d, Prompt, &a.Values)
	q.Answer = &a
}

func (d dropping) note(p trace.Payload) trace.Payload {
	switch p := p.(type) { //nolint:gochecksumtype // the reader makes notes of these kinds only
	case trace.Error:
		sentence, summary, more := p.Message, "", false
		if p.Code == trace.CodeSummary { // the agent's words stand behind the sentence
			sentence, summary, more = strings.Cut(p.Message, "\n\n")
		}
		d.word(Error, &p.Code)
		gone(d, Error, &sentence)
		gone(d, Output, &summary)
		if p.Message = sentence; more {
			p.Message = strings.Trim(sentence+"\n\n"+summary, "\n")
		}
		return p
	case trace.Message:
		gone(d, Prompt, &p.Text)
		return p
	case trace.Plan:
		gone(d, Output, &p.Entries)
		return p
	case trace.FileChange:
		gone(d, Path, &p.Path)
		gone(d, ToolOutput, &p.Diff)
		return p
	case trace.Source:
		gone(d, Output, &p.URL, &p.Title)
		gone(d, Path, &p.Filename)
		d.media(&p.MediaType)
		d.place(&p.URL)
		return p
	case trace.File:
		gone(d, Output, &p.URL)
		gone(d, Path, &p.Filename)
		d.media(&p.MediaType)
		d.place(&p.URL)
		return p
	case trace.Data:
		d.word(Title, &p.Name)
		gone(d, Output, &p.Value)
		return p
	default:
		return p
	}
}
