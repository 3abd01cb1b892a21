package openai

import (
	"cmp"
	"context"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// responses makes a model call by Responses. The endpoint stores nothing: reasoning
// comes back to us encrypted, is kept in the gateway's records, and is sent again.
func (m *model) responses(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, a *answer) error {
	params := responses.ResponseNewParams{
		Model: m.Model, Instructions: sdk.String(m.system()), Store: sdk.Bool(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
	}
	params.Input.OfInputItemList = responseItems(messages)
	for _, t := range tools {
		tool := responses.ToolParamOfFunction(t.Name, parameters(t), false)
		tool.OfFunction.Description = sdk.String(t.Description)
		params.Tools = append(params.Tools, tool)
	}
	open := func(ctx context.Context) *ssestream.Stream[responses.ResponseStreamEventUnion] {
		service := responses.NewResponseService(m.opts...)
		return service.NewStreaming(ctx, params)
	}
	return listen(ctx, m.endpoint, a, open, responseEvent)
}

func responseEvent(e responses.ResponseStreamEventUnion, a *answer) error {
	switch e.Type {
	case "response.output_text.delta":
		a.text(e.Delta)
	case "response.refusal.delta":
		a.refusal(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.thought(e.Delta)
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex > 0 {
			a.thought("\n\n")
		}
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			a.call(piece{item: e.Item.ID, id: e.Item.CallID, name: e.Item.Name})
		}
	case "response.function_call_arguments.delta":
		a.call(piece{item: e.ItemID, input: e.Delta})
	case "response.output_item.done":
		responseItemDone(e.Item, a)
	case "response.completed", "response.incomplete":
		a.finish = cmp.Or(e.Response.IncompleteDetails.Reason, string(e.Response.Status))
		u := e.Response.Usage
		a.usage = usage(u.InputTokens, u.OutputTokens, u.InputTokensDetails.CachedTokens, u.OutputTokensDetails.ReasoningTokens, u.RawJSON())
	case "response.failed":
		return &failure{code: string(e.Response.Error.Code), message: e.Response.Error.Message}
	case "error":
		return &failure{code: e.Code, message: e.Message}
	}
	return nil
}

func responseItemDone(item responses.ResponseOutputItemUnion, a *answer) {
	switch item.Type {
	case "reasoning":
		a.endPart(signature(item))
	case "message":
		a.endPart("")
	case "function_call":
		p := piece{item: item.ID, id: item.CallID, name: item.Name}
		if g := a.latest(item.ID); g == nil || len(g.Input) == 0 { // a server may send the arguments in one piece
			p.input = item.Arguments.OfString
		}
		a.call(p)
	}
}

// sealed is reasoning that only the endpoint can read.
type sealed struct {
	ID      string `json:"id"`
	Content string `json:"encrypted_content"`
}

func signature(item responses.ResponseOutputItemUnion) string {
	if item.EncryptedContent == "" {
		return ""
	}
	raw, _ := json.Marshal(sealed{ID: item.ID, Content: item.EncryptedContent}) //nolint:errcheck,errchkjson // two strings have a JSON form
	return string(raw)
}

// responseItems writes the conversation as Responses has it.
func responseItems(messages []toolloop.Message) responses.ResponseInputParam {
	all := responses.ResponseInputParam{}
	for _, x := range messages {
		if x.Role == trace.RoleUser {
			all = append(all, responses.ResponseInputItemParamOfMessage(responseParts(x.Parts), responses.EasyInputMessageRoleUser))
			continue
		}
		for _, t := range x.Thoughts {
			if item, ok := unseal(t); ok {
				all = append(all, item)
			}
		}
		if x.Text != "" {
			all = append(all, responses.ResponseInputItemParamOfMessage(x.Text, responses.EasyInputMessageRoleAssistant))
		}
		for _, c := range x.Calls {
			all = append(all, responses.ResponseInputItemParamOfFunctionCall(string(c.Input), c.ID, c.Name))
		}
		for _, c := range x.Calls {
			out := responses.ResponseInputItemParamOfFunctionCallOutput(c.Answer())
			out.OfFunctionCallOutput.CallID = sdk.String(c.ID)
			all = append(all, out)
		}
	}
	return all
}

func unseal(t toolloop.Thought) (item responses.ResponseInputItemUnionParam, ok bool) {
	var s sealed
	if json.Unmarshal([]byte(t.Signature), &s) != nil || s.Content == "" {
		return item, false
	}
	item = responses.ResponseInputItemParamOfReasoning(s.ID, []responses.ResponseReasoningItemSummaryParam{})
	if t.Text != "" {
		item.OfReasoning.Summary = append(item.OfReasoning.Summary, responses.ResponseReasoningItemSummaryParam{Text: t.Text})
	}
	item.OfReasoning.EncryptedContent = sdk.String(s.Content)
	return item, true
}

func responseParts(parts []trace.InputPart) responses.ResponseInputMessageContentListParam {
	all := responses.ResponseInputMessageContentListParam{}
	for _, p := range parts {
		switch f, text := formOf(p); f {
		case formImage:
			image := responses.ResponseInputImageParam{Detail: responses.ResponseInputImageDetailAuto, ImageURL: sdk.String(p.URL)}
			all = append(all, responses.ResponseInputContentUnionParam{OfInputImage: &image})
		case formFile:
			file := responses.ResponseInputFileParam{Filename: sdk.String(text), FileData: sdk.String(p.URL)}
			all = append(all, responses.ResponseInputContentUnionParam{OfInputFile: &file})
		case formText:
			all = append(all, responses.ResponseInputContentParamOfInputText(text))
		}
	}
	return all
}
