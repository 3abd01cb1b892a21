package trace

// This file estimates the memory that a payload holds.

// WeightOfHeader is the part of a weight that is the same for every event.
const WeightOfHeader = header

const header = 256

// ApproxSize estimates the memory in bytes that an event with this payload holds, for
// callers that keep events in bounded memory.
func ApproxSize(p Payload) int {
	switch p := p.(type) {
	case Prompt:
		n := header + len(p.Message.Metadata)
		for _, part := range p.Message.Parts {
			n += header + len(part.Text) + len(part.URL)
		}
		return n
	case MessageDelta:
		return header + len(p.Delta)
	case Message:
		return header + len(p.Text)
	case ThoughtDelta:
		return header + len(p.Delta)
	case Thought:
		return header + len(p.Text) + len(p.Signature)
	case ToolCallStart:
		return header + len(p.Title)
	case ToolCallDelta:
		return header + len(p.Delta)
	case ToolCall:
		return header + len(p.Title) + len(p.Input) + len(p.InputText) + weighLocations(p.Locations)
	case ToolResultProgress:
		return header + len(p.Output)
	case ToolResult:
		return header + len(p.Output) + len(p.Error) + weighLocations(p.Locations)
	case PermissionRequest:
		n := header + len(p.Title)
		for _, o := range p.Options {
			n += len(o.ID) + len(o.Name)
		}
		return n
	case PermissionResponse:
		return header + len(p.UpdatedInput) + len(p.Reason)
	case Question:
		n := header + len(p.Header) + len(p.Text)
		for _, c := range p.Choices {
			n += len(c.Label) + len(c.Description)
		}
		return n
	case Answer:
		return header + weighStrings(p.Values)
	case Pause:
		return header + weighStrings(p.Requests)
	case Plan:
		n := header
		for _, e := range p.Entries {
			n += len(e.Content)
		}
		return n
	case Source:
		return header + len(p.URL) + len(p.Title)
	case File:
		return header + len(p.URL)
	case Data:
		return header + len(p.Value)
	case FileChange:
		return header + len(p.Path) + len(p.Diff)
	case Error:
		return header + len(p.Message)
	case Status:
		return header + len(p.Detail)
	case Stop:
		return header + len(p.Error) + len(p.FinalOutput)
	case Unknown:
		return header + len(p.Raw)
	case Reply:
		return header + len(p.Resume)
	case MessageStart, ThoughtStart, Step, Usage, Rewind:
	}
	return header
}

func weighLocations(locations []Location) int {
	n := 0
	for _, l := range locations {
		n += len(l.Path)
	}
	return n
}

func weighStrings(values []string) int {
	n := 0
	for _, v := range values {
		n += len(v)
	}
	return n
}
