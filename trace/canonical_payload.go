package trace

// decodeCanonicalPayload reads the most frequent kinds in place. These are the deltas, which
// are as many as all other records together, and the kinds of which each page of
// history has hundreds. The others are left to encoding/json.
func decodeCanonicalPayload(kind, raw []byte) (Payload, bool) {
	s := canonicalReader{rest: raw, ok: true}
	if p := s.payload(Kind(kind)); p != nil {
		if s.skip(`}`); s.ok && len(s.rest) == 0 {
			return p, true
		}
	}
	decode, known := decoders[Kind(kind)]
	if !known || len(raw) == 0 || raw[0] != '{' || raw[len(raw)-1] != '}' { // no record of ours has that
		return nil, false
	}
	p, err := decode(raw)
	return p, err == nil
}

// payload reads a payload up to its last brace, or returns nil. The keys stand in
// the order of the fields, and Go evaluates a call's arguments from left to right.
func (s *canonicalReader) payload(k Kind) Payload {
	switch k { //nolint:exhaustive // the others hold lists and values, or are rare
	case KindMessageStart:
		return MessageStart{Part: s.field(`{"part":"`), Role: oneOf(s.bytes(`,"role":"`), RoleAssistant)}
	case KindMessageDelta:
		return MessageDelta{Part: s.field(`{"part":"`), Delta: s.field(`,"delta":"`)}
	case KindMessage:
		return Message{
			Part: s.field(`{"part":"`), Role: oneOf(s.bytes(`,"role":"`), RoleAssistant), Text: s.field(`,"text":"`),
			Superseded: s.flag(`,"superseded":true`),
		}
	case KindThoughtStart:
		return ThoughtStart{Part: s.field(`{"part":"`)}
	case KindThoughtDelta:
		return ThoughtDelta{Part: s.field(`{"part":"`), Delta: s.field(`,"delta":"`)}
	case KindThought:
		return Thought{
			Part: s.field(`{"part":"`), Text: s.field(`,"text":"`),
			Signature: s.optional(`,"signature":"`), Superseded: s.flag(`,"superseded":true`),
		}
	case KindToolCallStart:
		return ToolCallStart{
			ToolCallID: s.field(`{"tool_call_id":"`), RawName: s.field(`,"raw_name":"`), Name: s.field(`,"name":"`),
			ToolKind: ToolKind(s.field(`,"kind":"`)), Title: s.optional(`,"title":"`),
		}
	case KindToolCallDelta:
		return ToolCallDelta{ToolCallID: s.field(`{"tool_call_id":"`), Delta: s.field(`,"delta":"`)}
	case KindStep:
		return Step{
			Phase: oneOf(s.bytes(`{"phase":"`), PhaseStart, PhaseEnd), Name: s.optional(`,"name":"`), NativeID: s.optional(`,"native_id":"`),
			Finish: s.optional(`,"finish":"`),
		}
	case KindReply:
		return Reply{
			MessageID: s.field(`{"message_id":"`), Cause: oneOf(s.bytes(`,"cause":"`), CausePrompt, CauseAnswer, CauseSteer, CauseAgent),
			Resume: s.optional(`,"resume":"`),
		}
	case KindStop:
		return Stop{
			Reason: s.field(`{"reason":"`), Outcome: oneOf(s.bytes(`,"outcome":"`), OutcomeCompleted, OutcomeFailed, OutcomeCanceled),
			Class: Class(s.optional(`,"class":"`)), Error: s.optional(`,"error":"`), FinalOutput: s.field(`,"final_output":"`),
		}
	default:
		return nil
	}
}

// bytes reads a string that follows the head, which ends with its quote.
func (s *canonicalReader) bytes(head string) []byte {
	s.skip(head)
	return s.text()
}

func (s *canonicalReader) field(head string) string { return string(s.bytes(head)) }

// optional reads a string that is left out when it is empty.
func (s *canonicalReader) optional(head string) string {
	if !s.begins(head) {
		return ""
	}
	return s.field(head)
}

// flag reads a truth that is left out when it is none.
func (s *canonicalReader) flag(text string) bool {
	if !s.begins(text) {
		return false
	}
	s.skip(text)
	return true
}

func (s *canonicalReader) begins(text string) bool {
	return len(s.rest) >= len(text) && string(s.rest[:len(text)]) == text
}

// oneOf is the text, without a copy of it when it is one of those.
func oneOf[E ~string](text []byte, set ...E) E {
	for _, e := range set {
		if string(e) == string(text) {
			return e
		}
	}
	return E(text)
}
