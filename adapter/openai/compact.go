package openai

import (
	"context"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the model summarise the earlier turns of a conversation that gets too long.

const (
	// maxSummary bounds a summary in bytes.
	maxSummary = 16 << 10
	// compactAt is the part of the context that a conversation may fill before it is summarised.
	compactAt = 0.8
)

// compactInTime summarises the earlier turns if the conversation nearly fills the context.
func (m *model) compactInTime(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, b *trace.Builder) {
	if m.ContextTokens <= 0 {
		return
	}
	room := m.room(tools)
	if float64(estimate(m.repaired(messages))) > compactAt*float64(room) {
		m.compact(ctx, messages, room/2, b)
	}
}

// compact asks the model for a summary of the turns before the running one, once in a turn. The request
// holds about so many tokens. Without a summary, nothing changes.
func (m *model) compact(ctx context.Context, messages []toolloop.Message, tokens int64, b *trace.Builder) bool {
	at := toolloop.LastPrompt(messages)
	if m.compacted || at <= 0 {
		return false
	}
	m.compacted = true
	b.Emit(trace.Status{State: trace.StateThinking, Detail: "The earlier turns are summarised."})
	a := m.answer(agentkit.Nowhere()) //nolint:contextcheck // nothing is written
	ask := []toolloop.Message{{Role: trace.RoleUser, Parts: []trace.InputPart{{Type: trace.InputText, Text: summaryPrompt + transcript(messages[:at], max(tokens, 200)*4)}}}}
	err := m.call(ctx, ask, nil, a)
	m.count(ask, nil, a, b)
	summary := strings.TrimSpace(shortened(a.said.Text, min(maxSummary, max(tokens, 50)*2)))
	if err != nil || summary == "" {
		return false
	}
	m.summary = summary
	b.Emit(toolloop.SummaryNotice(fmt.Sprintf("The conversation nearly fills the context of the model %s. From now on the model reads this summary of the earlier turns:", m.Model), summary))
	return true
}

const summaryPrompt = "Summarise the conversation below for yourself: you will go on with it and see the summary only. " +
	"Keep what the user wants, decisions, names, paths, numbers, what was done and what is left. Write the summary and nothing else.\n\n"

// transcript is a conversation as one text of about so many bytes.
func transcript(messages []toolloop.Message, size int64) string {
	var all []string
	for _, x := range messages {
		for _, p := range x.Parts {
			_, text := formOf(p)
			if text == "" || p.Type == trace.InputFile {
				text = "[a file] " + p.Filename
			}
			all = append(all, "User: "+text)
		}
		if x.Text != "" {
			all = append(all, "Assistant: "+x.Text)
		}
		for _, c := range x.Calls {
			all = append(all, "Assistant called "+c.Name+" "+string(c.Input)+"\nResult: "+c.Answer())
		}
	}
	each := max(size/int64(max(len(all), 1)), 40)
	left := size
	for i, text := range all { // short messages leave their room to the later ones
		all[i] = shortened(text, max(each, left/int64(len(all)-i)))
		left -= int64(len(all[i]))
	}
	return shortened(strings.Join(all, "\n\n"), size)
}

// shortened leaves out the middle of a text.
func shortened(text string, size int64) string {
	const gap = "\n[…]\n"
	if int64(len(text)) <= size {
		return text
	}
	half := max(0, (size-int64(len(gap)))/2)
	return strings.ToValidUTF8(text[:half]+gap+text[int64(len(text))-half:], "")
}
