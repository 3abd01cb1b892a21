package gateway_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/session"
)

// assistant-ui closes each open call of the last message with an error before it sends
// a message. The user's words are the answer all the same.
func TestATypedAnswerCountsThoughTheClientClosedTheOpenCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prompt, typed, part, want string }{
		{"approve", "yes", `{"type":"dynamic-tool","toolName":"shell","toolCallId":%q,"state":"output-error","errorText":"x","input":{"command":"echo hello"}}`, `"option_kind":"allow_once"`},
		{"approve", "no", `{"type":"tool-shell","toolCallId":%q,"state":"output-error","errorText":"x","input":{"command":"echo hello"}}`, `"option_kind":"reject_once"`},
		{"ask", "green", `{"type":"tool-AskUser","toolCallId":%q,"state":"output-error","errorText":"x","input":{}}`, `"values":["green"]`},
	} {
		t.Run(c.prompt+" "+c.typed, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, func(o *session.Options) { o.OnDisconnect = session.Detach })
			status, body := s.typeBelow(c.prompt, c.typed, c.part)
			if status != 200 {
				t.Fatalf("the message was refused: %d %s", status, body)
			}
			_, _, records := s.do("GET", "/api/sessions/c1/trace", "")
			if !strings.Contains(records, c.want) || strings.Contains(records, `"outcome":"canceled"`) {
				t.Errorf("the answer %s is not on record:\n%s", c.want, records)
			}
		})
	}
}

// Words that are no answer are a new prompt.
func TestANewPromptRunsThoughTheClientClosedTheOpenCalls(t *testing.T) {
	t.Parallel()
	s := newStand(t, func(o *session.Options) { o.OnDisconnect = session.Detach })
	status, body := s.typeBelow("approve", "hello", `{"type":"dynamic-tool","toolName":"shell","toolCallId":%q,"state":"output-error","errorText":"x","input":{"command":"echo hello"}}`)
	if status != 200 || !strings.Contains(body, `"type":"text-delta"`) {
		t.Fatalf("the new prompt did not run: %d %s", status, body)
	}
}

// typeBelow prompts, and types below the answer as a client does that has closed the
// open call of the answer with an error.
func (s stand) typeBelow(prompt, typed, part string) (status int, body string) {
	s.t.Helper()
	_, _, asked := s.do("POST", "/api/chat", submit("c1", "u1", prompt))
	calls := regexp.MustCompile(`"toolCallId":"([^"]+)"`).FindAllStringSubmatch(asked, -1)
	message := regexp.MustCompile(`"messageId":"([^"]+)"`).FindStringSubmatch(asked)
	if len(calls) == 0 || message == nil {
		s.t.Fatal(asked)
	}
	status, _, body = s.do("POST", "/api/chat", fmt.Sprintf(
		`{"id":"c1","trigger":"submit-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":%q}]},{"id":%q,"role":"assistant","parts":[%s]},{"id":"u2","role":"user","parts":[{"type":"text","text":%q}]}]}`,
		prompt, message[1], fmt.Sprintf(part, calls[len(calls)-1][1]), typed))
	return status, body
}
