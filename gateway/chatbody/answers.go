package chatbody

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file reads answers from posted messages.

// Answer is a part of a posted assistant message that its user has answered.
type Answer struct {
	// ToolCall is the id of the part's call, as the client has it.
	ToolCall string
	// Output says that the answer is the output of a client tool.
	Output bool
	failed bool // the client says that its tool failed
	session.Reply
}

// maxAnswers bounds the answers of a POST that are kept, in bytes. The stock client posts
// all answers of a conversation every time; the newest count.
const maxAnswers = 1 << 20

// answeredMessage is an assistant message with answers.
type answeredMessage struct {
	id    string
	parts []Answer
	size  int
}

// keepAnswers keeps the answers in a posted assistant message.
func (req *Request) keepAnswers(id string, m map[string]any) error {
	parts, _ := m["parts"].([]any)
	req.LastAssistant, req.Shown, req.ran = id, shown(parts), slices.ContainsFunc(parts, ranByClient)
	a := answeredMessage{id: id}
	last := map[string]int{}
	for i, p := range parts {
		part, _ := p.(map[string]any)
		last[askedIn(part)] = i
	}
	for i, p := range parts {
		part, _ := p.(map[string]any)
		if asked := askedIn(part); asked != "" && last[asked] != i {
			continue // asked again below: the gateway has ended this call, and no user has declined it
		}
		reply, size, err := readAnswered(part)
		if err != nil {
			return err
		}
		if reply.ID != "" || reply.Call != "" {
			a.parts = append(a.parts, reply)
			a.size += size
		}
	}
	if len(a.parts) == 0 {
		return nil
	}
	req.answers = append(req.answers, a)
	req.answersSize += a.size
	for len(req.answers) > 1 && req.answersSize > maxAnswers {
		req.answersSize -= req.answers[0].size
		req.answers = req.answers[1:]
	}
	return nil
}

// OnlyOutputs reports whether a POST continues a message for no other reason than that the
// client has run tools of it.
func (req *Request) OnlyOutputs(message string) bool {
	return req.ran && message == req.LastAssistant && !slices.ContainsFunc(req.Answers(message), func(a Answer) bool { return a.ID != "" })
}

// ranByClient reports whether a part is a call that the client says it has run itself.
// The gateway's own are marked, but for those that ask its user.
func ranByClient(part any) bool {
	p, _ := part.(map[string]any)
	_, isTool := toolOf(p)
	state := textIn(p, "state")
	return isTool && askedIn(p) == "" && p["providerExecuted"] != true && (state == "output-available" || state == "output-error")
}

// shown lists the requests in a message, answered or not. Some clients, assistant-ui among
// them, replace each open call by an error before they send a message. The id of such a
// call stands for the approval that the page showed, and the id of an open call of the app
// for its question.
func shown(parts []any) []string {
	ids := []string{}
	for _, p := range parts {
		part, _ := p.(map[string]any)
		approval, _ := part["approval"].(map[string]any)
		closed := ""
		if state := textIn(part, "state"); state == "output-error" || state == "input-available" && part["providerExecuted"] != true {
			closed = textIn(part, "toolCallId")
		}
		for _, id := range []string{askedIn(part), textIn(approval, "id"), closed} {
			if id != "" {
				ids = append(ids, id)
			}
		}
		if textIn(part, "type") == "data-question" {
			ids = append(ids, textIn(part, "id"))
		}
	}
	return ids
}

// Answers returns the answers in the message with that id.
func (req *Request) Answers(id string) []Answer {
	for _, m := range slices.Backward(req.answers) {
		if m.id == id {
			return m.parts
		}
	}
	return nil
}

func textIn(part map[string]any, key string) string {
	v, _ := part[key].(string)
	return v
}

// toolOf is the name of the tool that a part is a call of, if it is one.
func toolOf(part map[string]any) (tool string, is bool) {
	kind := textIn(part, "type")
	if kind == "dynamic-tool" {
		return textIn(part, "toolName"), true
	}
	return strings.CutPrefix(kind, "tool-")
}

// askedIn is the id of the request in a client tool of this gateway, answered or not.
func askedIn(part map[string]any) string {
	tool, isTool := toolOf(part)
	switch id := textIn(part, "toolCallId"); {
	case isTool && tool == uistream.AskUser:
		return uistream.QuestionID(id)
	case isTool && tool == uistream.AskPermission:
		return uistream.RequestID(id)
	}
	return ""
}

// readAnswered reads the answer in a part. The part is an approval with a response and no
// outcome from the server yet, or a client tool with its output. Any other part gives an
// empty Answer.
func readAnswered(part map[string]any) (a Answer, size int, err error) {
	tool, isTool := toolOf(part)
	state := textIn(part, "state")
	a.ToolCall = textIn(part, "toolCallId")
	switch {
	case !isTool || a.ToolCall == "" && state != "approval-responded":
		return Answer{}, 0, nil
	case state == "approval-responded":
		approval, _ := part["approval"].(map[string]any)
		a.ID, _ = approval["id"].(string)
		a.Choice.Reason, _ = approval["reason"].(string)
		approved, ok := approval["approved"].(bool)
		if a.ID == "" || !ok {
			return Answer{}, 0, nil
		}
		a.Choice.Approved = &approved
		return a, len(a.ID) + len(a.Choice.Reason), nil
	case state != "output-available" && state != "output-error":
		return Answer{}, 0, nil
	case tool == uistream.AskUser:
		a.ID, a.Question, a.Output, a.failed = uistream.QuestionID(a.ToolCall), true, true, state == "output-error"
		if state == "output-available" {
			a.Values = texts(part["output"])
		}
	case tool == uistream.AskPermission:
		a.ID, a.Output, a.failed = uistream.RequestID(a.ToolCall), true, state == "output-error"
		a.Choice, err = readChoice(part["output"], state == "output-available")
	case part["providerExecuted"] == true:
		return Answer{}, 0, nil
	default: // a tool of the app's own: an upstream of this protocol may wait for its output
		a.Call, a.Question, a.failed, a.Reason = a.ToolCall, true, state == "output-error", textIn(part, "errorText")
		if state == "output-available" {
			raw, err := passThroughJSON("output", part["output"])
			if err != nil {
				return Answer{}, 0, nil //nolint:nilerr // an earlier output, too large for an answer
			}
			a.Values = []string{string(raw)}
		}
	}
	size = len(a.ID) + len(a.Choice.Input) + len(a.Choice.Reason) + len(a.Reason)
	for _, v := range a.Values {
		size += len(v)
	}
	return a, size, err
}

// texts reads the output of AskUser: a text, a list of them, or any other value,
// which is then taken as its JSON.
func texts(output any) []string {
	switch v := output.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	}
	raw, err := json.Marshal(output)
	if err != nil {
		return nil
	}
	return []string{string(raw)}
}

// readChoice reads the output of AskPermission. A call without a good answer is a no.
func readChoice(output any, ok bool) (session.Choice, error) {
	no := false
	if !ok {
		return session.Choice{Approved: &no}, nil
	}
	switch v := output.(type) {
	case bool:
		return session.Choice{Approved: &v}, nil
	case string:
		return session.Choice{Says: v}, nil
	case map[string]any:
		var c session.Choice
		c.Option, _ = v["option"].(string)
		c.Reason, _ = v["reason"].(string)
		c.Interrupt, _ = v["interrupt"].(bool)
		if approved, is := v["approved"].(bool); is {
			c.Approved = &approved
		}
		if in, has := v["updated_input"]; has && in != nil {
			raw, err := passThroughJSON("updated_input", in)
			if err != nil {
				return c, err
			}
			c.Input = raw
		}
		return c, nil
	}
	return session.Choice{Approved: &no}, nil
}

// Pressed leaves out the calls that the client has closed with an error. Beside a new user
// message such an error is no answer: the client closed the open calls because the user
// typed, and the typed text is the answer.
func Pressed(parts []Answer) []Answer {
	return slices.DeleteFunc(slices.Clone(parts), func(a Answer) bool { return a.failed })
}

// Replies returns answers as the session takes them.
func Replies(parts []Answer) []session.Reply {
	all := make([]session.Reply, len(parts))
	for i, p := range parts {
		all[i] = p.Reply
	}
	return all
}

// Continues reports whether a POST continues an assistant message, and which one: the last
// message of the POST, or an earlier one that the POST names and answers.
func (req *Request) Continues() (message string, is bool) {
	switch {
	case req.Trigger != "" && req.Trigger != submit:
		return "", false
	case req.MessageID != "" && len(req.Answers(req.MessageID)) > 0:
		return req.MessageID, true
	case req.LastRole == "assistant":
		return req.LastID, true
	}
	return "", false
}
