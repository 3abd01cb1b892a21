package chatbody

import (
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// Prompt is the prompt of a POST that continues no message. The role of the last message
// tells the kinds of POST apart; a body with a single message falls back on trigger and ids.
func (req *Request) Prompt(by, channel string) (session.Prompt, error) {
	if channel == "" {
		channel = req.Channel
	}
	p := session.Prompt{By: by, Channel: channel, Shown: req.Shown}
	switch {
	case req.Trigger == regenerate:
		p.Regenerate, p.Of = true, req.MessageID
		if req.User != nil {
			p.Message = *req.User
		}
		return p, trace.CheckFiles(p.Message.Parts)
	case req.Trigger != "" && req.Trigger != submit:
		return p, refusal.Malformed("`trigger` must be %s or %s.", submit, regenerate)
	case req.User == nil:
		return p, refusal.Malformed("There is no user message in the request: send `messages` (or `message`) with one.")
	}
	p.Message = *req.User
	if len(p.Message.Parts) == 0 {
		return p, session.ErrEmptyPrompt
	}
	return p, trace.CheckFiles(p.Message.Parts)
}

// Weight is the number of bytes of the user's message that are kept.
func (req *Request) Weight() int64 {
	if req.User == nil {
		return 0
	}
	return int64(trace.ApproxSize(trace.Prompt{Message: *req.User}))
}
