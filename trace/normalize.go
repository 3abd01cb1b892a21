package trace

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
)

// This file replaces words of agents that a closed set does not have.

// The enums are closed, and agents are not: what an adapter passes on unread may
// be a word of tomorrow. The functions here choose what it is on record.

func known[E ~string](value, otherwise E, set ...E) E {
	if slices.Contains(set, value) {
		return value
	}
	return otherwise
}

func (k ToolKind) normalized() ToolKind {
	return known(k, ToolOther, ToolRead, ToolEdit, ToolDelete, ToolMove, ToolSearch,
		ToolExecute, ToolThink, ToolFetch, ToolSwitchMode)
}

// normalized takes a status that nobody knows for a failure if there is an error.
func (r ToolResult) normalized() ToolResult {
	otherwise := ToolCompleted
	if r.Error != "" {
		otherwise = ToolFailed
	}
	r.Status = known(r.Status, otherwise, ToolCompleted, ToolFailed, ToolDenied, ToolCanceled)
	switch {
	case r.Error != "" || r.Status == ToolCompleted:
	case r.Status == ToolFailed:
		r.Error = "Tool execution failed"
	default:
		r.Error = "The tool call ended as " + string(r.Status) + "."
	}
	return r
}

// normalized takes an option that nobody knows for a refusal: what is not clearly
// an approval must never count as one.
func (r PermissionRequest) normalized() PermissionRequest {
	r.Options = append([]PermissionOption{}, r.Options...)
	for i, o := range r.Options {
		r.Options[i].OptionKind = known(o.OptionKind, RejectOnce, AllowOnce, AllowAlways, RejectOnce, RejectAlways)
	}
	return r
}

func (r PermissionResponse) normalized() PermissionResponse {
	otherwise := Canceled
	if r.Outcome == "" && r.OptionKind != "" {
		otherwise = Selected
	}
	r.Outcome = known(r.Outcome, otherwise, Selected, Canceled, Expired)
	r.OptionKind = known(r.OptionKind, "", AllowOnce, AllowAlways, RejectOnce, RejectAlways)
	r.Via = r.Via.normalized()
	if len(r.UpdatedInput) > 0 {
		r.UpdatedInput = CompactJSON(r.UpdatedInput)
	}
	return r
}

func (a Answer) normalized() Answer {
	otherwise := Canceled
	if a.Outcome == "" && len(a.Values) > 0 {
		otherwise = Selected
	}
	a.Outcome = known(a.Outcome, otherwise, Selected, Canceled, Expired)
	a.Via = a.Via.normalized()
	return a
}

func (v Via) normalized() Via { return known(v, "", ViaChat, ViaWords, ViaRequest) }

func (s Stop) normalized() Stop {
	otherwise := OutcomeCompleted
	if s.Error != "" {
		otherwise = OutcomeFailed
	}
	s.Outcome = known(s.Outcome, otherwise, OutcomeCompleted, OutcomeFailed, OutcomeCanceled)
	if s.Class == "" && gatewaysReason(s.Reason) {
		s.Class = ClassGateway
	}
	s.Class = known(s.Class, "", ClassAuth, ClassRateLimit, ClassOverloaded, ClassNetwork, ClassRequest, ClassContext, ClassLimit, ClassGateway)
	if s.Outcome != OutcomeFailed {
		s.Class = ""
	}
	return s
}

func (p Prompt) normalized() Prompt {
	if len(p.Message.Metadata) > 0 {
		p.Message.Metadata = CompactJSON(p.Message.Metadata)
	}
	return p
}

func (p Plan) normalized() Plan {
	p.Entries = append([]PlanEntry{}, p.Entries...)
	for i, e := range p.Entries {
		p.Entries[i].Status = known(e.Status, PlanPending, PlanPending, PlanInProgress, PlanCompleted)
	}
	return p
}

// normalized leaves out figures below 0, which some programs write for those that they do not know,
// and bounds the others, so that no sum of them overflows.
func (u Usage) normalized() Usage {
	const mostTokens, mostUSD = 1 << 48, 1e12
	u.Scope = known(u.Scope, UsageTurn, UsageStep, UsageTurn, UsageSession)
	if u.InputTokens < 0 || u.OutputTokens < 0 {
		u.InputTokens, u.OutputTokens = 0, 0
	}
	for _, n := range []*int64{&u.InputTokens, &u.OutputTokens, &u.CacheReadTokens, &u.CacheWriteTokens, &u.ReasoningTokens, &u.ContextUsed, &u.ContextSize} {
		*n = max(0, min(*n, mostTokens))
	}
	if u.CostUSD != nil {
		cost := min(*u.CostUSD, mostUSD)
		if u.CostUSD = &cost; math.IsNaN(cost) || cost < 0 { // JSON has no NaN
			u.CostUSD = nil
		}
	}
	return u
}

func (c FileChange) normalized() FileChange {
	c.Change = known(c.Change, FileModified, FileCreated, FileModified, FileDeleted, FileMoved)
	return c
}

// normalized takes a state that nobody knows for work: the agent did say something.
func (s Status) normalized() Status {
	s.State = known(s.State, StateThinking, StateIdle, StateThinking, StateStreaming, StateToolCalling, StateError)
	return s
}

// normalized makes an Unknown what its kind says, if this version does know it, so
// that nothing passes by the grammar.
func (u Unknown) normalized() Payload {
	if _, is := decoders[u.UnknownKind]; is || u.UnknownKind == "" {
		if p, err := UnmarshalPayload(u.UnknownKind, u.Raw); err == nil && is {
			return p
		}
		return Data{Name: "unknown", Value: CompactJSON(u.Raw)}
	}
	if !json.Valid(u.Raw) {
		u.Raw = CompactJSON(u.Raw)
	}
	u.Raw = oneLine(bytes.Clone(u.Raw))
	return u
}

// Normalized is the payload as a Builder would write it: a word that a closed set does not have is
// the most careful one. Readers need it for records that another program wrote. How a call and a turn
// ended stays as it is, because a Builder takes an unknown end for a good one.
func Normalized(p Payload) Payload {
	switch p := p.(type) { //nolint:gochecksumtype // the others have no words of closed sets that a reader judges by
	case ToolCallStart:
		p.ToolKind = p.ToolKind.normalized()
		return p
	case ToolCall:
		p.ToolKind = p.ToolKind.normalized()
		return p
	case PermissionRequest:
		return p.normalized()
	case PermissionResponse:
		return p.normalized()
	case Answer:
		return p.normalized()
	case Usage:
		return p.normalized()
	case FileChange:
		return p.normalized()
	}
	return p
}
