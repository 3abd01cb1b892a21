package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
)

// introduced is a session that takes answers from those only whom its server knows.
type introduced struct {
	agent.Session
	to *elsewhere
}

func (i introduced) Introduce(by string, c agent.Caller) error {
	if c.Bearer == "" {
		return agent.ErrNotKnownThere
	}
	i.to.mu.Lock()
	defer i.to.mu.Unlock()
	i.to.bearers = append(i.to.bearers, by+" "+c.Bearer)
	return nil
}

// between is what stands in a text between two others.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return found
}

// The agent's server knows the person who answers by their own token, whichever way
// they answer. A person without such a token is refused, and the request goes on
// waiting.
func TestB04_AnAnswerIsItsSendersOwn(t *testing.T) {
	const refusal = "you are not known there: sign in with a token of that server to answer."
	ops := &elsewhere{opens: demo.Runtime{Pace: time.Millisecond}}
	s := newPassThroughStand(t, ops, &quiet{})
	for i, answer := range []func(token, session, message, question string) string{
		func(token, session, _, question string) string {
			_, said := s.bring(token, "POST", "/api/sessions/"+session+"/questions/"+question, `{"value":"green"}`)
			return said
		},
		func(token, session, message, question string) string {
			_, said := s.bring(token, "POST", "/api/chat", fmt.Sprintf(
				`{"id":%q,"messages":[{"id":%q,"role":"assistant","parts":[{"type":"tool-AskUser","toolCallId":%q,"state":"output-available","input":{},"output":"green"}]}]}`,
				session, message, question))
			return said
		},
	} {
		ops.mu.Lock()
		ops.bearers = nil
		ops.mu.Unlock()
		session := fmt.Sprint("remote-", i)
		_, stream := s.bring(adaToken, "POST", "/api/chat", submit(session, "u1", "ask"))
		message, question := between(stream, `"messageId":"`, `"`), between(stream, `"tool-input-available","toolCallId":"`, `"`)
		if message == "" || question == "" {
			t.Fatal(stream)
		}
		waits := func() bool {
			_, is := s.bring("root-012345678901234567890", "GET", "/api/sessions/"+session, "")
			return strings.Contains(is, `"state":"paused"`)
		}
		for _, token := range []string{"ci-012345678901234567890", "root-012345678901234567890"} {
			if said := answer(token, session, message, question); !strings.Contains(said, refusal) || !waits() {
				t.Errorf("%d: %.4s hears %s; it waits: %v", i, token, said, waits())
			}
		}
		if said := answer(annToken, session, message, question); strings.Contains(said, refusal) || waits() {
			t.Errorf("%d: the caller reads %s; it waits: %v", i, said, waits())
		}
		if who := ops.last(); !strings.HasPrefix(who, "ops:token-") || !strings.HasSuffix(who, " "+annToken) {
			t.Errorf("%d: introduced %q", i, who)
		}
	}
}
