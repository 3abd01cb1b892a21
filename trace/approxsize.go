package trace

// This file estimates the memory that a payload holds.

const (
	header = 256 // the part of a weight that is the same for every event
	item   = 32  // of a list
)

// ApproxSize estimates the memory in bytes that an event with this payload holds, for
// callers that keep events in bounded memory.
func ApproxSize(p Payload) int {
	if p == nil {
		return header
	}
	return header + p.size()
}

func (p Reply) size() int              { return len(p.MessageID) + len(p.Resume) }
func (p MessageStart) size() int       { return len(p.Part) }
func (p MessageDelta) size() int       { return len(p.Delta) }
func (p Message) size() int            { return len(p.Text) }
func (p ThoughtStart) size() int       { return len(p.Part) }
func (p ThoughtDelta) size() int       { return len(p.Delta) }
func (p Thought) size() int            { return len(p.Text) + len(p.Signature) }
func (p ToolCallDelta) size() int      { return len(p.ToolCallID) + len(p.Delta) }
func (p ToolResultProgress) size() int { return len(p.ToolCallID) + len(p.Output) }
func (p Pause) size() int              { return weighStrings(p.Requests) }
func (p File) size() int               { return len(p.URL) + len(p.MediaType) + len(p.Filename) }
func (d Data) size() int               { return len(d.Name) + len(d.ID) + len(d.Value) }
func (c FileChange) size() int         { return len(c.Path) + len(c.ToolCallID) + len(c.Diff) }
func (e Error) size() int              { return len(e.Message) + len(e.Code) }
func (s Status) size() int             { return len(s.State) + len(s.Detail) }
func (p Step) size() int               { return len(p.Name) + len(p.NativeID) }
func (u Usage) size() int              { return len(u.Model) }
func (p Rewind) size() int             { return len(p.To) }
func (s Stop) size() int               { return len(s.Reason) + len(s.Error) + len(s.FinalOutput) }
func (u Unknown) size() int            { return len(u.UnknownKind) + len(u.Raw) }

func (p Prompt) size() int {
	n := len(p.Message.ID) + len(p.Message.Metadata) + len(p.By) + len(p.Channel)
	for _, part := range p.Message.Parts {
		n += header + len(part.Text) + len(part.URL) + len(part.MediaType) + len(part.Filename)
	}
	return n
}

func (p ToolCallStart) size() int {
	return len(p.ToolCallID) + len(p.RawName) + len(p.Name) + len(p.ToolKind) + len(p.Title)
}

func (tc ToolCall) size() int {
	n := len(tc.ToolCallID) + len(tc.RawName) + len(tc.Name) + len(tc.ToolKind) + len(tc.Title)
	return n + len(tc.Input) + len(tc.InputText) + len(tc.ProviderState) + weighLocations(tc.Locations)
}

func (r ToolResult) size() int {
	return len(r.ToolCallID) + len(r.Output) + len(r.Error) + weighLocations(r.Locations)
}

func (r PermissionRequest) size() int {
	n := len(r.RequestID) + len(r.ToolCallID) + len(r.Title) + len(r.DecidedBy)
	for _, o := range r.Options {
		n += item + len(o.ID) + len(o.Name) + len(o.OptionKind)
	}
	return n
}

func (r PermissionResponse) size() int {
	return len(r.RequestID) + len(r.ChosenOption) + len(r.UpdatedInput) + len(r.By) + len(r.Reason)
}

func (p Question) size() int {
	n := len(p.QuestionID) + len(p.ToolCallID) + len(p.Header) + len(p.Text)
	for _, c := range p.Choices {
		n += item + len(c.Label) + len(c.Description)
	}
	return n
}

func (a Answer) size() int {
	return len(a.QuestionID) + weighStrings(a.Values) + len(a.Reason) + len(a.By)
}

func (p Plan) size() int {
	n := 0
	for _, e := range p.Entries {
		n += item + len(e.Content) + len(e.Status)
	}
	return n
}

func (p Source) size() int {
	return len(p.SourceID) + len(p.URL) + len(p.Title) + len(p.MediaType) + len(p.Filename)
}

func weighLocations(locations []Location) int {
	n := 0
	for _, l := range locations {
		n += item + len(l.Path)
	}
	return n
}

func weighStrings(values []string) int {
	const item = 16
	n := 0
	for _, v := range values {
		n += item + len(v)
	}
	return n
}
