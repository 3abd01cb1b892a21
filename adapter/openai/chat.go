package openai

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// chat makes a model call by Chat Completions.
func (m *model) chat(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, a *answer) error {
	params := sdk.ChatCompletionNewParams{
		Model: m.Model, Messages: m.chatMessages(messages),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	for _, t := range tools {
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: parameters(t),
		}))
	}
	open := func(ctx context.Context) *ssestream.Stream[sdk.ChatCompletionChunk] {
		service := sdk.NewChatCompletionService(m.opts...)
		return service.NewStreaming(ctx, params)
	}
	return listen(ctx, m.endpoint, a, open, m.chatChunk)
}

func (m *model) chatChunk(chunk sdk.ChatCompletionChunk, a *answer) error {
	if u := chunk.Usage; u.PromptTokens+u.CompletionTokens > 0 {
		a.usage = usage(u.PromptTokens, u.CompletionTokens, u.PromptTokensDetails.CachedTokens, u.CompletionTokensDetails.ReasoningTokens, u.RawJSON())
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		var d chatDelta
		if raw := choice.Delta.RawJSON(); raw != "" {
			if err := json.Unmarshal([]byte(raw), &d); err != nil {
				return err
			}
		}
		m.chatDelta(d, a)
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	return nil
}

// chatDelta is a piece of a message. Servers differ in more than the SDK's type allows.
type chatDelta struct {
	Content, Reasoning, Refusal loose
	ReasoningContent            loose `json:"reasoning_content"`
	ToolCalls                   []struct {
		Index    int
		ID       string
		Function struct {
			Name      string
			Arguments arguments
		}
	} `json:"tool_calls"`
}

func (m *model) chatDelta(d chatDelta, a *answer) {
	switch {
	case d.ReasoningContent.text != "":
		m.reasoning = "reasoning_content"
		a.thought(d.ReasoningContent.text)
	case d.Reasoning.text != "":
		m.reasoning = "reasoning"
		a.thought(d.Reasoning.text)
	}
	a.thought(d.Content.thought)
	a.text(d.Content.text)
	a.refusal(d.Refusal.text)
	for _, c := range d.ToolCalls {
		a.call(piece{item: strconv.Itoa(c.Index), id: c.ID, name: c.Function.Name, input: string(c.Function.Arguments)})
	}
}

// arguments are a text; some servers send the object itself.
type arguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *arguments) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*string)(a)) != nil {
		*a = arguments(raw)
	}
	return nil
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
		Text     string
		Thinking loose
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		l.text += p.Text
		l.thought += p.Thinking.text
	}
	return nil
}

// chatMessages writes the conversation as Chat Completions has it.
func (m *model) chatMessages(messages []toolloop.Message) []sdk.ChatCompletionMessageParamUnion {
	all := []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage(m.system())}
	turn := len(messages)
	for turn > 0 && !isPrompt(messages[turn-1]) {
		turn--
	}
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
		if reasoning := thoughts(x); reasoning != "" && m.reasoning != "" && i >= turn { // some servers want it back while tools run
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

// chatPrompt is a user's message. Words alone are sent as one text, because some servers
// know no parts.
func chatPrompt(parts []trace.InputPart) sdk.ChatCompletionMessageParamUnion {
	var all []sdk.ChatCompletionContentPartUnionParam
	var texts []string
	for _, p := range parts {
		switch f, text := formOf(p); f {
		case formImage:
			all = append(all, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: p.URL}))
		case formFile:
			all = append(all, sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{Filename: sdk.String(text), FileData: sdk.String(p.URL)}))
		case formText:
			all, texts = append(all, sdk.TextContentPart(text)), append(texts, text)
		}
	}
	if len(texts) == len(all) {
		return sdk.UserMessage(strings.Join(texts, "\n\n"))
	}
	return sdk.UserMessage(all)
}
