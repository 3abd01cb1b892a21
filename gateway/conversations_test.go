package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

// keeper is an agent that keeps two conversations by itself.
type keeper struct {
	echo.Runtime
	fails error

	mu     sync.Mutex
	opened []string // the resume token of each session
}

func (k *keeper) Conversations(_ context.Context, cfg agent.Config) ([]agent.Conversation, error) {
	if cfg.Cwd == "" {
		return nil, errors.New("there is no workspace")
	}
	return []agent.Conversation{
		{Token: "old", Title: "The  old\none"}, {Token: "new", Title: "The new one", Updated: time.Date(2026, 3, 1, 10, 0, 0, 0, time.FixedZone("", 7200))},
	}, k.fails
}

// Open moves the conversation on: the session gets a token of a later moment.
func (k *keeper) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opened = append(k.opened, cfg.Resume)
	if cfg.Resume != "" {
		host.Resume(cfg.Resume + "@later")
	}
	return k.Runtime.Open(ctx, host, cfg)
}

// withKeeper is a gateway with such an agent, with one that cannot list, and with one that
// fails.
func withKeeper(t *testing.T, adapt ...func(*gateway.Options)) (stand, *keeper) {
	t.Helper()
	k := &keeper{}
	return newStandOn(t, memlog.New(), func(o *session.Options) {
		o.Agents["keeper"] = session.Agent{Runtime: k, Cwd: t.TempDir()}
		o.Agents["broken"] = session.Agent{Runtime: &keeper{fails: errors.New("broken: it is not logged in")}, Cwd: t.TempDir()}
	}, adapt...), k
}

const (
	theList = "/api/agents/keeper/conversations"
	newOne  = `{"resume":"new","title":"The new one","updated":"2026-03-01T08:00:00Z"}`
	oldOne  = `{"resume":"old","title":"The old one"}`
)

func TestASessionGoesOnWithAConversationOfTheAgent(t *testing.T) {
	s, k := withKeeper(t)
	lists := func(want ...string) {
		t.Helper()
		status, _, body := s.do("GET", theList, "")
		if status != 200 || strings.TrimSpace(body) != `{"conversations":[`+strings.Join(want, ",")+`]}` {
			t.Errorf("%d %s, want %s", status, body, want)
		}
	}
	lists(newOne, oldOne)
	status, _, body := s.do("POST", "/api/sessions", `{"id":"s1","agent":"keeper","resume":"new"}`)
	if status != 201 || !strings.Contains(body, `"title":"The new one"`) {
		t.Fatalf("%d %s", status, body)
	}
	lists(oldOne)
	if status, _, body := s.do("POST", "/api/chat", submit("s1", "u1", "hello")); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if len(k.opened) != 1 || k.opened[0] != "new" {
		t.Errorf("opened with %q", k.opened)
	}
	lists(oldOne) // though the session's token names a later moment
	if status, _, body := s.do("DELETE", "/api/sessions/s1", ""); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	lists(newOne, oldOne)
}

// A token opens a conversation only if the agent lists it for its own workspace, and no
// session has it: not even one that the sender may see.
func TestATokenThatIsNotListedBeginsNoSession(t *testing.T) {
	s, k := withKeeper(t)
	if status, _, body := s.do("POST", "/api/sessions", `{"id":"hers","agent":"keeper","kind":"workflow","resume":"old"}`, as("eve", "admin")...); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	for _, token := range []string{"old", "old@later", "new@later", "elsewhere", " new", "../new"} {
		body, _ := json.Marshal(map[string]string{"id": "mine", "agent": "keeper", "resume": token})
		status, _, answer := s.do("POST", "/api/sessions", string(body))
		if status != 404 || !strings.Contains(answer, `"unknown_conversation"`) {
			t.Errorf("%q: %d %s", token, status, answer)
		}
	}
	if status, _, body := s.do("GET", "/api/sessions/mine", ""); status != 404 {
		t.Errorf("a session was made: %d %s", status, body)
	}
	if len(k.opened) != 0 {
		t.Errorf("opened with %q", k.opened)
	}
}

func TestOfManyWhoWantAConversationOneGetsIt(t *testing.T) {
	s, _ := withKeeper(t)
	var all sync.WaitGroup
	made := make(chan int, 8)
	for i := range cap(made) {
		all.Go(func() {
			status, _, _ := s.do("POST", "/api/sessions", fmt.Sprintf(`{"id":"s%d","agent":"keeper","resume":"new"}`, i))
			made <- status
		})
	}
	all.Wait()
	close(made)
	got := map[int]int{}
	for status := range made {
		got[status]++
	}
	if got[201] != 1 || got[404] != cap(made)-1 {
		t.Errorf("statuses: %v", got)
	}
}

func TestWhoMaySeeTheConversationsOfAnAgent(t *testing.T) {
	ops := func(o *gateway.Options) { o.Permits = []access.Who{{Group: "ops"}} }
	limited := func(o *gateway.Options) { o.Users = map[string][]access.Who{"keeper": {{Group: "ops"}}} }
	inOps := func(who []string) []string { return append(who, "X-Test-Groups", "ops") }
	for name, c := range map[string]struct {
		adapt  []func(*gateway.Options)
		who    []string
		status int
	}{
		"admin":                               {nil, as("ada", "admin"), 200},
		"collaborator":                        {nil, as("bob", "collaborator"), 403},
		"viewer":                              {nil, as("vic", "viewer"), 403},
		"token of one session":                {nil, append(as("ada", "admin"), "X-Test-Bound", "s1"), 403},
		"approver by group":                   {[]func(*gateway.Options){ops}, inOps(as("bob", "collaborator")), 200},
		"admin who may not approve":           {[]func(*gateway.Options){ops}, as("ada", "admin"), 403},
		"approver who only views":             {[]func(*gateway.Options){ops}, inOps(as("vic", "viewer")), 403},
		"approver among private sessions":     {[]func(*gateway.Options){ops, privately}, inOps(as("bob", "collaborator")), 403},
		"admin among private sessions":        {[]func(*gateway.Options){privately}, as("ada", "admin"), 200},
		"admin who may not use the agent":     {[]func(*gateway.Options){limited}, as("ada", "admin"), 403},
		"admin who may use the limited agent": {[]func(*gateway.Options){limited}, inOps(as("ada", "admin")), 200},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := withKeeper(t, c.adapt...)
			if status, _, body := s.do("GET", theList, "", c.who...); status != c.status || (status == 200) != strings.Contains(body, newOne) {
				t.Errorf("the list: %d %s, want %d", status, body, c.status)
			}
			want := c.status
			if want == 200 {
				want = 201
			}
			if status, _, body := s.do("POST", "/api/sessions", `{"id":"s1","agent":"keeper","resume":"new"}`, c.who...); status != want {
				t.Errorf("a session: %d %s, want %d", status, body, want)
			}
		})
	}
}

func TestAnAgentWithoutConversationsSaysSo(t *testing.T) {
	s, _ := withKeeper(t)
	for agent, want := range map[string]struct {
		status int
		text   string
	}{
		"demo":   {409, "This agent does not list its conversations: begin a session without `resume`."},
		"none":   {400, "There is no such agent as \\\"none\\\": there are broken, demo, keeper."},
		"broken": {502, "The agent broken did not list its conversations: broken: it is not logged in."},
	} {
		for _, ask := range [][]string{{"GET", "/api/agents/" + agent + "/conversations", ""}, {"POST", "/api/sessions", `{"agent":"` + agent + `","resume":"new"}`}} {
			if status, _, body := s.do(ask[0], ask[1], ask[2]); status != want.status || !strings.Contains(body, want.text) {
				t.Errorf("%s: %d %s", ask, status, body)
			}
		}
	}
}
