package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/egress"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// networked is an agent that tells which network its processes would have.
type networked struct {
	scripted
	network chan box.Network
}

func (n networked) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	n.network <- cfg.Box.Network
	return n.scripted.Open(ctx, host, cfg)
}

// A host outside of the list is refused and on record once in each turn. With EgressAsk the policy decides, or a person; "always" is a grant.
func TestEgress(t *testing.T) {
	t.Parallel()
	if err := box.NetworkAvailable(); err != nil {
		t.Skip("no network of its own can be had here: ", err)
	}
	const host, other = "example.com", "example.net"
	for _, row := range []struct {
		name    string
		refuse  bool // without EgressAsk
		rules   []permission.Rule
		answers []string // of a person, one for each turn; "" is for none
		want    []bool   // whether the host may be reached in each turn
		notices int      // in each turn
		status  trace.ToolStatus
	}{
		{"nobody is asked", true, []permission.Rule{{Then: permission.Allow}}, []string{""}, []bool{false}, 2, ""},
		{"a rule denies", false, []permission.Rule{{Tool: session.EgressTool, Then: permission.Deny}}, []string{""}, []bool{false}, 1, trace.ToolDenied},
		{"a rule allows", false, []permission.Rule{{Tool: session.EgressTool, Then: permission.Allow}}, []string{""}, []bool{true}, 1, trace.ToolCompleted},
		{"a person allows once", false, nil, []string{"once", "reject"}, []bool{true, false}, 1, ""},
		{"a person allows always", false, nil, []string{"always", ""}, []bool{true, true}, 1, trace.ToolCompleted},
		{"a person rejects", false, []permission.Rule{{Kinds: []trace.ToolKind{trace.ToolFetch}, Then: permission.Allow}}, []string{"reject"}, []bool{false}, 1, trace.ToolDenied},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			networks := make(chan box.Network, 1)
			began, ends := make(chan struct{}), make(chan struct{})
			var counted atomic.Int64
			b := newBench(t, func(o *session.Options) {
				o.Meter = func(_ string, c agent.Count) {
					if c == agent.EgressRefused {
						counted.Add(1)
					}
				}
				o.Agents["demo"] = session.Agent{
					Runtime: networked{scripted{prompt: func(context.Context, agent.Host, agent.Prompt, *trace.Builder) error {
						began <- struct{}{}
						<-ends
						return nil
					}}, networks},
					Cwd: t.TempDir(), Policy: permission.Policy{Rules: row.rules}, Egress: []string{"api.example.com"}, EgressAsk: !row.refuse,
				}
			})
			defer b.close()
			var proxy *egress.Proxy
			for i, answer := range row.answers {
				turn := b.say(fmt.Sprint("u", i), "hello")
				if proxy == nil {
					proxy, _ = (<-networks).(*egress.Proxy)
				}
				<-began
				allowed := make(chan bool)
				for range 2 { // they wait for one decision
					go func() {
						allowed <- proxy.Other != nil && proxy.Other(t.Context(), egress.Target{Host: host, Port: 443})
					}()
				}
				if answer != "" {
					b.permit(t, turn, answer)
				}
				for range 2 {
					if got := <-allowed; got != row.want[i] {
						t.Errorf("turn %d: allowed %v, want %v", i, got, row.want[i])
					}
				}
				for range 3 {
					if !row.want[i] {
						proxy.Refused(egress.Target{Host: host, Port: 443}, "why")
					}
					proxy.Refused(egress.Target{Host: other, Port: 80}, "why")
				}
				ends <- struct{}{}
				notices, calls := 0, 0
				for _, r := range b.wait(turn) {
					switch p := r.Payload.(type) {
					case trace.Error:
						if p.Code == "egress_refused" && strings.Contains(p.Message, "agents.demo.egress") {
							notices++
						}
					case trace.ToolCall:
						if calls++; p.RawName != session.EgressTool || string(p.Input) != `{"host":"example.com:443"}` {
							t.Errorf("the call is %+v", p)
						}
					case trace.ToolResult:
						if row.status != "" && p.Status != row.status {
							t.Errorf("the result is %+v", p)
						}
					}
				}
				if notices != row.notices || calls != min(1, 2-row.notices) {
					t.Errorf("turn %d has %d notices and %d calls on record", i, notices, calls)
				}
			}
			if proxy.Other != nil && proxy.Other(t.Context(), egress.Target{Host: host, Port: 443}) {
				t.Error("a host may be reached outside of a turn")
			}
			if n := counted.Load(); n < 3 {
				t.Errorf("%d refusals are counted", n)
			}
		})
	}
}

// A turn has the first hosts on record. A connection waits for a person for a while, and the request stays.
//
//evidence:for limit-egress-turn
func TestEgressIsBounded(t *testing.T) {
	if err := errors.Join(box.Available(box.Guard), box.NetworkAvailable()); err != nil {
		t.Skip("no network of its own can be had here: ", err)
	}
	synctest.Test(t, func(t *testing.T) {
		networks := make(chan box.Network, 1)
		ends := make(chan struct{})
		b := newBench(t, func(o *session.Options) {
			o.Agents["demo"] = session.Agent{
				Runtime: networked{scripted{prompt: func(context.Context, agent.Host, agent.Prompt, *trace.Builder) error {
					<-ends
					return nil
				}}, networks},
				Cwd: t.TempDir(), Egress: []string{}, EgressAsk: true,
			}
		})
		defer b.close()
		turn := b.say("u", "hello")
		proxy, _ := (<-networks).(*egress.Proxy)
		synctest.Wait()
		began := time.Now()
		if proxy.Other(t.Context(), egress.Target{Host: "example.com", Port: 443}) || time.Since(began) != 2*time.Minute {
			t.Errorf("the connection waited for %v", time.Since(began))
		}
		b.permit(t, turn, "once")
		synctest.Wait()
		if !proxy.Other(t.Context(), egress.Target{Host: "example.com", Port: 443}) {
			t.Error("the late answer does not count")
		}
		for i := range 30 {
			proxy.Refused(egress.Target{Host: fmt.Sprintf("h%d.example.com", i), Port: 443}, "why")
		}
		close(ends)
		notices := 0
		for _, r := range b.wait(turn) {
			if p, is := r.Payload.(trace.Error); is && p.Code == "egress_refused" {
				notices++
			}
		}
		if notices != 19 { // and the host that was asked about
			t.Errorf("%d hosts are on record", notices)
		}
	})
}

// permit answers the only request of a turn when it is on record.
func (b *bench) permit(t *testing.T, turn session.Turn, option string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for r, err := range b.Follow(ctx, "s", turn.ID, turn.After) {
		if err != nil {
			t.Fatal(err)
		}
		if p, is := r.Payload.(trace.PermissionRequest); is {
			if _, err := b.Permit(ctx, "s", p.RequestID, session.Sender{By: "ada"}, session.Choice{Option: option}); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("nobody is asked")
}
