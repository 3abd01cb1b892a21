package uistream

import (
	"encoding/json"
	"maps"
)

// This file folds chunks of other servers.

// extended takes a chunk with further keys.
func (r *Reducer) extended(e Extended) (at int, err error) {
	if at, err = r.add(e.Chunk); err != nil {
		return at, err
	}
	switch e.Chunk.(type) { //nolint:gochecksumtype // the keys of the others are those of a part
	case Start, Finish:
		r.metadata.merge(e.Keys[messageMetadataKey])
	}
	if at != none {
		r.message.Parts[at].extend(e)
	}
	return at, nil
}

// extend takes over further keys, under the names that a part has for them.
func (p *Part) extend(e Extended) {
	for name, value := range e.Keys {
		_, asked := e.Chunk.(ToolApprovalRequest)
		switch {
		case asked && p.Approval != nil:
			p.Approval.Keys = p.Approval.Keys.With(approvalKey(name), value)
		case asked:
		case name == metadataKey && !p.isTool():
			p.ProviderMetadata = value
		case name == metadataKey && (p.State == outputAvailable || p.State == outputError):
			p.Keys = p.Keys.With("resultProviderMetadata", value)
		case name == metadataKey:
			p.Keys = p.Keys.With("callProviderMetadata", value)
		default:
			p.Keys = p.Keys.With(name, value)
		}
	}
}

func approvalKey(name string) string {
	switch name {
	case "approvalDescriptor":
		return "descriptor"
	case "reason":
		return "requestReason"
	}
	return name
}

// With adds a key to a copy: callers may hold parts with the old keys.
func (k Keys) With(name string, value json.RawMessage) Keys {
	all := Keys{}
	maps.Copy(all, k)
	all[name] = value
	return all
}

// other takes a chunk that is a part as it is, or changes the message.
func (r *Reducer) other(c Other) {
	switch c.Name {
	case "message-metadata":
		r.metadata.merge(c.Keys[messageMetadataKey])
	case "reset-step":
		r.reset()
	case partText, partReasoning:
		r.push(Part{Type: c.Name, State: stateDone, ProviderMetadata: c.Keys[metadataKey]})
	default:
		r.push(Part{Type: c.Name, Keys: c.Keys, whole: true})
	}
}

// reset removes the parts of the current step.
func (r *Reducer) reset() {
	r.message.Parts = r.message.Parts[:r.step]
	r.texts, r.reasoning, r.writing = nil, nil, nil
	maps.DeleteFunc(r.calls, func(_ callForm, at int) bool { return at >= r.step })
	maps.DeleteFunc(r.replaced, func(_ dataPart, at int) bool { return at >= r.step })
	maps.DeleteFunc(r.approvals, func(_ string, places []int) bool { return places[len(places)-1] >= r.step })
}

// CallOf is the call that a chunk is about, or "".
func CallOf(c Chunk) string {
	switch c := c.(type) { //nolint:gochecksumtype // the others have none
	case ToolInputStart:
		return c.ToolCallID
	case ToolInputAvailable:
		return c.ToolCallID
	case ToolInputError:
		return c.ToolCallID
	case ToolOutputAvailable:
		return c.ToolCallID
	case ToolOutputError:
		return c.ToolCallID
	case ToolApprovalRequest:
		return c.ToolCallID
	}
	return ""
}
