package demo

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// recall reads the session's earlier prompts from the gateway's history. A prompt without
// a reply was not played.
func recall(ctx context.Context, host agent.Host) ([]string, error) {
	earlier, newest := []string{}, agent.Prompt{}
	for r, err := range host.History(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the conversation so far: %w", err)
		}
		switch p := r.Payload.(type) { //nolint:gochecksumtype // other records hold no prompt
		case trace.Prompt:
			newest.Message = p.Message
		case trace.Reply:
			if p.Cause == trace.CausePrompt {
				earlier = append(earlier, shorten(newest))
			}
		}
	}
	return earlier, nil
}

// shorten returns the first 200 characters of a prompt.
func shorten(p agent.Prompt) string {
	whole := p.Text()
	text := []rune(strings.ToValidUTF8(whole[:min(len(whole), 201*utf8.UTFMax)], "\uFFFD"))
	if len(text) > 200 {
		text = append(text[:199], '…')
	}
	return string(text)
}

// remember lists the newest 20 of the earlier prompts.
func remember(s *stage) {
	if len(s.earlier) == 0 {
		s.say("This is the first prompt of the session that I know of.")
		return
	}
	s.say("Before this you said:\n\n- " + strings.Join(s.earlier[max(0, len(s.earlier)-20):], "\n- "))
}
