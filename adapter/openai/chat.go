package openai

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// chat makes a model call by Chat Completions.
func (m *model) chat(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, s *speech) (outcome, error) {
	params := sdk.ChatCompletionNewParams{
		Model: m.Model, Messages: m.chatMessages(messages), Tools: chatTools(tools),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	ctx, alive, done := m.patience(ctx)
	defer done()
	service := sdk.NewChatCompletionService(m.endpoint.opts...)
	stream := service.NewStreaming(ctx, params)
	defer stream.Close() //nolint:errcheck // its error is the stream's
	var out outcome
	calls := chatCalls{s: s}
	for stream.Next() {
		alive()
		chunk := stream.Current()
		if u := chunk.Usage; u.PromptTokens+u.CompletionTokens > 0 {
			out.usage = trace.Usage{
				InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens,
				CacheReadTokens: u.PromptTokensDetails.CachedTokens, ReasoningTokens: u.CompletionTokensDetails.ReasoningTokens,
				CostUSD: serverCost(u.RawJSON()),
			}
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			var d chatDelta
			if err := json.Unmarshal([]byte(choice.Delta.RawJSON()), &d); err != nil && choice.Delta.RawJSON() != "" {
				return out, fmt.Errorf("%w: %w", errGarbage, err)
			}
			m.chatDelta(d, s, &calls)
			if choice.FinishReason != "" {
				out.finish = choice.FinishReason
			}
		}
	}
	s.endPart("")
	s.said.Calls = calls.end()
	if err := stream.Err(); err != nil {
		return out, cause(ctx, err)
	}
	if out.finish == "" {
		return out, errCutOff
	}
	return out, nil
}

// chatDelta is a piece of a message. Servers differ in more than the SDK's type allows.
type chatDelta struct {
	Content          loose      `json:"content"`
	ReasoningContent loose      `json:"reasoning_content"`
	Reasoning        loose      `json:"reasoning"`
	Refusal          loose      `json:"refusal"`
	ToolCalls        []callPart `json:"tool_calls"`
}

func (m *model) chatDelta(d chatDelta, s *speech, calls *chatCalls) {
	for _, r := range []struct{ field, text string }{{"reasoning_content", d.ReasoningContent.text}, {"reasoning", d.Reasoning.text}} {
		if r.text != "" {
			m.reasoning = r.field
			s.thought(r.text)
			break
		}
	}
	s.thought(d.Content.thought)
	s.text(d.Content.text)
	if d.Refusal.text != "" {
		s.refused = true
		s.text(d.Refusal.text)
	}
	for _, part := range d.ToolCalls {
		calls.add(part)
	}
}

// loose is a text that some servers write as a list of typed parts.
type loose struct{ text, thought string }

// UnmarshalJSON implements json.Unmarshaler. A form that is not known is no text.
func (l *loose) UnmarshalJSON(raw []byte) error {
	var text trace.JSONText
	if json.Unmarshal(raw, &text) == nil {
		l.text = string(text)
		return nil
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking loose  `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			l.text += p.Text
			l.thought += p.Thinking.text
		}
	}
	return nil
}

func chatTools(tools []toolloop.Tool) []sdk.ChatCompletionToolUnionParam {
	var all []sdk.ChatCompletionToolUnionParam
	for _, t := range tools {
		all = append(all, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: parameters(t),
		}))
	}
	return all
}

func parameters(t toolloop.Tool) map[string]any {
	var p map[string]any
	if json.Unmarshal(t.Schema, &p) != nil || p == nil {
		p = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	return p
}

// chatMessages writes the conversation as Chat Completions has it.
func (m *model) chatMessages(messages []toolloop.Message) []sdk.ChatCompletionMessageParamUnion {
	all := []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage(m.system())}
	turn := lastPrompt(messages)
	for i, x := range messages {
		if x.Role == trace.RoleUser {
			all = append(all, chatPrompt(x.Parts))
			continue
		}
		said := sdk.ChatCompletionAssistantMessageParam{}
		if x.Text != "" || len(x.Calls) == 0 {
			said.Content.OfString = sdk.String(x.Text)
		}
		for _, c := range x.Calls {
			said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(c.Input)},
			}})
		}
		if reasoning := thoughts(x); reasoning != "" && m.reasoning != "" && i > turn { // some servers want it back while tools run
			said.SetExtraFields(map[string]any{m.reasoning: reasoning})
		}
		all = append(all, sdk.ChatCompletionMessageParamUnion{OfAssistant: &said})
		for _, c := range x.Calls {
			all = append(all, sdk.ToolMessage(c.Answer(), c.ID))
		}
	}
	return all
}

func thoughts(x toolloop.Message) (text string) {
	for _, t := range x.Thoughts {
		text += t.Text
	}
	return text
}
