package uistream

// This file has the options of a translation.

// Options say for whom a turn is translated. They are comparable.
type Options struct {
	// Profile is what the client understands.
	Profile Profile
	// RFC is `compat: rfc`: the Agent Ops RFC counts where it and the clients disagree. The
	// agent's own id of its turn names the message and its one text. The failure of a tool
	// is an error of the stream, and a question is a data part. No step begins, and no
	// reader leaves at a pause.
	RFC bool
	// Legacy writes the form of clients that are older than the UI message stream.
	Legacy bool
	// Domain says which events of the agent's world are shown.
	Domain DomainEvents
	// Native writes what goes back to an upstream of this protocol: its own messages under
	// its own ids, without words of the gateway.
	Native bool
	// Subagents says how what sub-agents do is shown.
	Subagents Subagents
}

// Subagents says how what sub-agents do is shown.
type Subagents uint8

const (
	// SubagentsPart shows each sub-agent as one data part, which is updated.
	SubagentsPart Subagents = iota
	// SubagentsInline shows a sub-agent's parts among the agent's own.
	SubagentsInline
	// SubagentsPreliminary shows a sub-agent's text as the preliminary output of the
	// call that started it. A sub-agent that no call started, and one of a client that
	// knows no preliminary output, has a data part.
	SubagentsPreliminary
	// SubagentsHidden shows nothing, except what a person is asked.
	SubagentsHidden
)

// capabilities is what a profile unlocks, looked up once.
type capabilities struct {
	approvals, denied, approvalResponse bool
	preliminary, title, finishReason    bool
	inputError                          bool
	abortReason                         bool
	// The facts of a text, of a call and of its result, which not every chunk of a call may have.
	textFacts, startFacts, callFacts, resultFacts bool
}

// capabilities are those of the profile, without facts where others say what a stream holds:
// the RFC, and an upstream of its own messages.
func (o Options) capabilities() capabilities {
	p, facts := o.Profile, !o.RFC && !o.Native
	return capabilities{
		textFacts:        facts && p.knows("text-start", metadataKey),
		startFacts:       facts && p.knows("tool-input-start", metadataKey),
		callFacts:        facts && p.knows("tool-input-available", metadataKey),
		resultFacts:      facts && p.knows("tool-output-available", metadataKey) && p.knows("tool-output-error", metadataKey),
		approvals:        p.Approvals(),
		denied:           p.knows("tool-output-denied", ""),
		approvalResponse: p.knows("tool-approval-response", ""),
		preliminary:      p.knows("tool-output-available", "preliminary"),
		title:            p.knows("tool-input-start", "title") && p.knows("tool-input-available", "title"),
		inputError:       p.knows("tool-input-error", "") && p != Profile{}, // clients of 5 may read the default
		finishReason:     p.knows("finish", "finishReason"),
		abortReason:      p.knows("abort", "reason"),
	}
}
