package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// namer is an agent that has a name of its own for each turn: up-1, up-2, and so on.
// The agent repeats the prompt. If the prompt is "ask", it asks for permission first.
type namer struct{ turns *atomic.Int32 }

type naming struct {
	namer
	host agent.Host
}

func (n namer) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	return naming{n, host}, nil
}

func (n naming) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	b.Emit(trace.Status{State: trace.StateThinking})
	b.StepStart(trace.Step{NativeID: fmt.Sprint("up-", n.turns.Add(1))})
	b.MessageDelta("a", "You said: ")
	if p.Text() == "ask" {
		b.ToolCall(trace.ToolCall{ToolCallID: "call", RawName: "shell", ToolKind: trace.ToolExecute})
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "leave", ToolCallID: "call", Title: "Run it?", Options: []trace.PermissionOption{
			{ID: "yes", Name: "Yes", OptionKind: trace.AllowOnce}, {ID: "no", Name: "No", OptionKind: trace.RejectOnce},
		}}, trace.ToolCall{})

		if _, err := n.host.Permit(ctx, id); err != nil {
			return err
		}
		b.ToolResult(trace.ToolResult{ToolCallID: "call", Status: trace.ToolCompleted})
	}
	b.MessageDelta("a", p.Text())
	b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	return nil
}

func (naming) Close() error { return nil }

func named(o *session.Options) {
	a := o.Agents["demo"]
	a.Runtime = namer{&atomic.Int32{}}
	o.Agents["demo"] = a
}

const (
	byRFC     = `"type":"start","messageId":"up-1"`
	byDefault = `"type":"start","messageId":"msg_`
)

func TestACompatIsChosenByRequestSessionAndConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		configured    bool
		create, query string
		want          string
	}{
		"nobody":                        {false, "", "", byDefault},
		"the request":                   {false, "", "?compat=rfc", byRFC},
		"the session":                   {false, `,"compat":"rfc"`, "", byRFC},
		"the request, which wants none": {false, `,"compat":"rfc"`, "?compat=none", byDefault},
		"the configuration":             {true, "", "", byRFC},
		"the request against it":        {true, "", "?compat=none", byDefault},
	} {
		t.Run(name, func(t *testing.T) {
			store := memlog.New()
			compat := func(o *gateway.Options) { o.Stream.RFC = c.configured }
			s := newStandOn(t, store, named, compat)
			if status, _, body := s.do("POST", "/api/sessions", `{"id":"c1"`+c.create+`}`); status != 201 || strings.Contains(body, `"compat":"rfc"`) != (c.create != "") {
				t.Fatalf("%d %s", status, body)
			}
			_, _, body := s.do("POST", "/api/sessions/c1/chat"+c.query, submit("c1", "u1", "hello"))
			if !strings.Contains(body, c.want) || strings.Contains(body, "event: message-start\n") != (c.want == byRFC) {
				t.Errorf("the stream is\n%s", body)
			}
			if _, _, resumed := s.do("GET", "/api/sessions/c1/chat/stream"+c.query, ""); resumed != body {
				t.Errorf("the replay differs:\n%s\n%s", resumed, body)
			}
			id := find(body, `"messageId":"([^"]+)"`)
			if _, _, history := s.do("GET", "/api/sessions/c1/messages"+c.query, ""); !strings.Contains(history, `"id":"`+id+`"`) || !strings.Contains(history, "You said: hello") {
				t.Errorf("the history of %s is %s", id, history)
			}
			again := newStandOn(t, store, named, compat) // another gateway finds the session as it was made
			if _, _, info := again.do("GET", "/api/sessions/c1", ""); strings.Contains(info, `"compat":"rfc"`) != (c.create != "") {
				t.Errorf("a restart leaves %s", info)
			}
		})
	}
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"c2"}`)
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/api/chat?compat=old", submit("c1", "u1", "x"), "`compat` must be rfc or none."},
		{"POST", "/api/chat?format=old", submit("c1", "u1", "x"), "`format` must be uistream or legacy."},
		{"GET", "/api/chat/c2/stream?compat=old", "", "`compat` must be rfc or none."},
		{"POST", "/api/sessions", `{"compat":"none"}`, "`compat` must be rfc, or missing."},
	} {
		if status, _, body := s.do(c.method, c.path, c.body); status != 400 || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	if status, _, _ := s.do("GET", "/api/sessions/c1", ""); status != 404 {
		t.Error("a bad request made a session")
	}
}

// A client with `compat: rfc` knows messages by the ids of the agent only.
func TestA05_WhatIsRegeneratedMayHaveTheAgentsName(t *testing.T) {
	s := newStand(t, named)
	for _, u := range []string{"u1", "u2", "u3"} {
		s.do("POST", "/api/chat?compat=rfc", submit("c1", u, "hello "+u))
	}
	again := func(id, user string) (int, string) {
		status, _, body := s.do("POST", "/api/chat?compat=rfc", `{"id":"c1","trigger":"regenerate-message","messageId":"`+id+`","messages":[
			{"id":"`+user+`","role":"user","parts":[{"type":"text","text":"hello `+user+`"}]}]}`)
		return status, body
	}
	if status, body := again("up-99", "u2"); status != 409 {
		t.Errorf("a name that nobody has: %d %s", status, body)
	}
	if status, body := again("up-2", "u2"); status != 200 || !strings.Contains(body, `"messageId":"up-4"`) || !strings.Contains(body, "hello u2") {
		t.Errorf("%d %s", status, body)
	}
	_, _, history := s.do("GET", "/api/sessions/c1/messages?compat=rfc", "")
	var ids []string
	for _, part := range strings.Split(history, `"id":"`)[1:] {
		ids = append(ids, part[:strings.IndexByte(part, '"')])
	}
	if got := strings.Join(ids, " "); got != "u1 up-1 u2 up-4" {
		t.Errorf("history shows %s", got)
	}
}

// With `compat: rfc` no reader leaves at a request. But a client that has the history may
// answer by a chat request all the same, and gets the rest.
func TestAnAnswerToAMessageOfTheAgentsName(t *testing.T) {
	s := newStand(t, named)
	streamed := make(chan string, 1)
	go func() {
		_, _, body := s.do("POST", "/api/chat?compat=rfc", submit("c1", "u1", "ask"))
		streamed <- body
	}()
	history := ""
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(history, "approval-requested"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is asked: %s", history)
		}
		_, _, history = s.do("GET", "/api/sessions/c1/messages?compat=rfc", "")
	}
	p := paused{s, "c1", "up-1", ""}
	p.body = `"tool-input-available","toolCallId":"call","toolName":"shell"`
	request := find(history, `"approval":\{"id":"([^"]+)"`)
	status, _, rest := s.do("POST", "/api/chat?compat=rfc", `{"id":"c1","trigger":"submit-message","messageId":"up-1","messages":[
		{"id":"up-1","role":"assistant","parts":[`+p.responded(request, true, "")+`]}]}`)
	want := "start tool-output-available text-start text-delta text-end finish-step finish"
	if got := strings.Join(typesOf(rest), " "); status != 200 || got != want || !strings.Contains(rest, byRFC) || !strings.Contains(rest, `"type":"text-start","id":"up-1"`) {
		t.Errorf("%d: %s\n%s", status, got, rest)
	}
	s.do("POST", "/api/chat/c1/stop", "") // if the answer was not taken
	if body := <-streamed; !strings.Contains(body, byRFC) || !strings.HasSuffix(body, rest[max(0, strings.Index(rest, "event: text-start")):]) {
		t.Errorf("who stayed got\n%s", body)
	}
}

func typesOf(body string) (all []string) {
	for line := range strings.Lines(body) {
		if typ := find(line, `^data: \{"type":"([^"]+)"`); typ != "" {
			all = append(all, typ)
		}
	}
	return all
}

func TestM01_AStreamHasTheLegacyFormOnRequest(t *testing.T) {
	s := newStand(t, nil)
	status, _, body := s.do("POST", "/api/chat?format=legacy", submit("c1", "u1", "hello"))
	if status != 200 || !strings.Contains(body, `"type":"text-delta"`) || !strings.Contains(body, `"textDelta":`) || strings.Contains(body, "event: ") || strings.Contains(body, "[DONE]") {
		t.Errorf("%d %s", status, body)
	}
	if _, _, resumed := s.do("GET", "/api/chat/c1/stream?format=legacy", ""); resumed != body {
		t.Errorf("the replay differs:\n%s\n%s", resumed, body)
	}
}
