package openai

import (
	"context"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// responses makes a model call by Responses. The endpoint stores nothing: reasoning
// comes back to us encrypted, is kept in the gateway's records, and is sent again.
func (m *model) responses(ctx context.Context, messages []toolloop.Message, tools []toolloop.Tool, s *speech) (outcome, error) {
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
	ctx, alive, done := m.patience(ctx)
	defer done()
	service := responses.NewResponseService(m.endpoint.opts...)
	stream := service.NewStreaming(ctx, params)
	defer stream.Close() //nolint:errcheck // its error is the stream's
	r := answer{s: s, calls: map[string]string{}}
	for stream.Next() {
		alive()
		if err := r.take(stream.Current()); err != nil {
			s.endPart("")
			return r.outcome, err
		}
	}
	s.endPart("")
	if err := stream.Err(); err != nil {
		return r.outcome, cause(ctx, err)
	}
	if r.finish == "" {
		return r.outcome, errCutOff
	}
	return r.outcome, nil
}

// answer is a response that is being streamed.
type answer struct {
	outcome
	s     *speech
	calls map[string]string // the id of a call, by that of its item
}

func (r *answer) take(e responses.ResponseStreamEventUnion) error {
	switch e.Type {
	case "response.output_text.delta":
		r.s.text(e.Delta)
	case "response.refusal.delta":
		r.s.refused = true
		r.s.text(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.s.thought(e.Delta)
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex > 0 {
			r.s.thought("\n\n")
		}
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			r.calls[e.Item.ID] = e.Item.CallID
			r.s.call(e.Item.CallID, e.Item.Name)
		}
	case "response.function_call_arguments.delta":
		if id, ok := r.calls[e.ItemID]; ok {
			r.s.b.ToolCallDelta(id, e.Delta)
		}
	case "response.output_item.done":
		r.done(e.Item)
	case "response.completed", "response.incomplete":
		r.finish = e.Response.IncompleteDetails.Reason
		if r.finish == "" {
			r.finish = string(e.Response.Status)
		}
		u := e.Response.Usage
		r.usage = trace.Usage{
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
			CacheReadTokens: u.InputTokensDetails.CachedTokens, ReasoningTokens: u.OutputTokensDetails.ReasoningTokens,
			CostUSD: serverCost(u.RawJSON()),
		}
	case "response.failed":
		return &brokenOff{code: string(e.Response.Error.Code), message: e.Response.Error.Message}
	case "error":
		return &brokenOff{code: e.Code, message: e.Message}
	}
	return nil
}

// done takes an item that is whole.
func (r *answer) done(item responses.ResponseOutputItemUnion) {
	switch item.Type {
	case "reasoning":
		r.s.endPart(signature(item))
	case "message":
		r.s.endPart("")
	case "function_call":
		if _, begun := r.calls[item.ID]; !begun {
			r.s.call(item.CallID, item.Name)
		}
		r.s.said.Calls = append(r.s.said.Calls, toolloop.Call{ID: item.CallID, Name: item.Name, Input: json.RawMessage(item.Arguments.OfString)})
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
