package trace

// This file estimates the memory that a payload holds.

// WeightOfHeader is the part of a weight that is the same for every event.
const WeightOfHeader = header

const header = 256

// ApproxSize estimates the memory in bytes that an event with this payload holds, for
// callers that keep events in bounded memory.
func ApproxSize(p Payload) int {
	const item = 32 // of a list
	switch p := p.(type) {
	case Prompt:
		n := header + len(p.Message.ID) + len(p.Message.Metadata) + len(p.By) + len(p.Channel)
		for _, part := range p.Message.Parts {
			n += header + len(part.Text) + len(part.URL) + len(part.MediaType) + len(part.Filename)
		}
		return n
	case MessageStart:
		return header + len(p.Part)
	case MessageDelta:
		return header + len(p.Delta)
	case Message:
		return header + len(p.Text)
	case ThoughtStart:
		return header + len(p.Part)
	case ThoughtDelta:
		return header + len(p.Delta)
	case Thought:
		return header + len(p.Text) + len(p.Signature)
	case ToolCallStart:
		return header + len(p.ToolCallID) + len(p.RawName) + len(p.Name) + len(p.ToolKind) + len(p.Title)
	case ToolCallDelta:
		return header + len(p.ToolCallID) + len(p.Delta)
	case ToolCall:
		n := header + len(p.ToolCallID) + len(p.RawName) + len(p.Name) + len(p.ToolKind) + len(p.Title)
		return n + len(p.Input) + len(p.InputText) + len(p.ProviderState) + weighLocations(p.Locations)
	case ToolResultProgress:
		return header + len(p.ToolCallID) + len(p.Output)
	case ToolResult:
		return header + len(p.ToolCallID) + len(p.Output) + len(p.Error) + weighLocations(p.Locations)
	case PermissionRequest:
		n := header + len(p.RequestID) + len(p.ToolCallID) + len(p.Title) + len(p.DecidedBy)
		for _, o := range p.Options {
			n += item + len(o.ID) + len(o.Name) + len(o.OptionKind)
		}
		return n
	case PermissionResponse:
		return header + len(p.RequestID) + len(p.ChosenOption) + len(p.UpdatedInput) + len(p.By) + len(p.Reason)
	case Question:
		n := header + len(p.QuestionID) + len(p.ToolCallID) + len(p.Header) + len(p.Text)
		for _, c := range p.Choices {
			n += item + len(c.Label) + len(c.Description)
		}
		return n
	case Answer:
		return header + len(p.QuestionID) + weighStrings(p.Values) + len(p.Reason) + len(p.By)
	case Pause:
		return header + weighStrings(p.Requests)
	case Plan:
		n := header
		for _, e := range p.Entries {
			n += item + len(e.Content) + len(e.Status)
		}
		return n
	case Source:
		return header + len(p.SourceID) + len(p.URL) + len(p.Title) + len(p.MediaType) + len(p.Filename)
	case File:
		return header + len(p.URL) + len(p.MediaType) + len(p.Filename)
	case Data:
		return header + len(p.Name) + len(p.ID) + len(p.Value)
	case FileChange:
		return header + len(p.Path) + len(p.ToolCallID) + len(p.Diff)
	case Error:
		return header + len(p.Message) + len(p.Code)
	case Status:
		return header + len(p.State) + len(p.Detail)
	case Step:
		return header + len(p.Name) + len(p.NativeID)
	case Usage:
		return header + len(p.Model)
	case Stop:
		return header + len(p.Reason) + len(p.Error) + len(p.FinalOutput)
	case Unknown:
		return header + len(p.UnknownKind) + len(p.Raw)
	case Reply:
		return header + len(p.MessageID) + len(p.Resume)
	case Rewind:
		return header + len(p.To)
	}
	return header
}

func weighLocations(locations []Location) int {
	const item = 32
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
