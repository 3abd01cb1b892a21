package opencode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// sse is an event of the session S.
func sse(kind, properties string) string {
	return fmt.Sprintf(`{"dir":"sse","msg":{"type":%q,"properties":{"sessionID":"S",%s}}}`+"\n", kind, properties)
}

// answered is a message of a model, with a step that ended for a reason.
func answered(id, model, more, reason string) string {
	info := fmt.Sprintf(`"info":{"id":%q,"sessionID":"S","role":"assistant","providerID":"p","modelID":%q%s,"time":{"created":1`, id, model, more)
	part := func(kind, more string) string {
		return sse("message.part.updated", fmt.Sprintf(`"part":{"id":"%s%s","messageID":%q,"sessionID":"S","type":%q%s}`, id, kind, id, kind, more))
	}
	return sse("message.updated", info+`}}`) + part("step-start", "") + part("text", `,"text":"hi","time":{"end":2}`) + part("step-finish", `,"reason":"`+reason+`"`) + sse("message.updated", info+`,"completed":2}}`)
}

const asked = `{"dir":"http-req","method":"POST","path":"/session/S/prompt_async","body":{"parts":[{"type":"text","text":"go"}]}}` + "\n"

var idle = sse("session.idle", `"x":1`)

// played returns what the records say of the agent, the words with which steps end, and the last stop.
func played(t *testing.T, lines ...string) (agents []trace.AgentInfo, finishes []string, stop trace.Stop) {
	t.Helper()
	for _, r := range recordings().Play(t, []byte(strings.Join(lines, ""))).Records {
		switch p := r.Payload.(type) { //nolint:gochecksumtype // the others are tested elsewhere
		case trace.Data:
			if a, is := p.Agent(); is {
				agents = append(agents, a)
			}
		case trace.Step:
			if p.Phase == trace.PhaseEnd {
				finishes = append(finishes, p.Finish)
			}
		case trace.Stop:
			stop = p
		}
	}
	return agents, finishes, stop
}

func TestWhichAgentAndWhyItsModelStopped(t *testing.T) {
	t.Parallel()
	created := `{"dir":"http-req","method":"POST","path":"/session","body":{}}` + "\n" + `{"dir":"http-res","status":200,"path":"/session","body":{"id":"S","version":"1.2"}}` + "\n"
	agents, finishes, _ := played(t, created, sse("session.created", `"info":{"id":"S","version":"1.2"}`), asked,
		answered("1", "m", "", "tool-calls"), answered("2", "small", `,"summary":true`, "stop"), answered("3", "m", "", "length"), answered("4", "n", "", "stop"), idle)
	if d := cmp.Diff([]trace.AgentInfo{{Product: "opencode", Version: "1.2"}, {Provider: "p", Model: "m"}, {Provider: "p", Model: "n"}}, agents); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"tool-calls", "length", "stop"}, finishes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestASessionOfAnOlderVersionDoesNotSayWhichOneWorks(t *testing.T) {
	t.Parallel()
	older := `{"dir":"http-res","status":200,"path":"/session/S","body":{"id":"S","version":"1.0"}}` + "\n"
	agents, _, _ := played(t, older, asked, sse("session.updated", `"info":{"id":"S","version":"1.0"}`), answered("1", "m", "", "stop"), idle)
	if d := cmp.Diff([]trace.AgentInfo{{Provider: "p", Model: "m"}}, agents); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTheServerSaysItsVersion(t *testing.T) {
	t.Parallel()
	host := agenttest.NewHost()
	_, rt := attached(t)
	rt.Name = "Kilo"
	agenttest.Open(t, rt, host, agent.Config{})
	for _, p := range host.Notes() {
		d, _ := p.(trace.Data)
		if a, is := d.Agent(); is && a.Product == "kilo" && a.Version == "1.18.33" {
			return
		}
	}
	t.Errorf("the notes are %v", host.Notes())
}

func TestTheClassOfAFailure(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]trace.Class{
		`{"name":"ProviderAuthError","data":{"providerID":"p","message":"no key"}}`:              trace.ClassAuth,
		`{"name":"APIError","data":{"message":"x","statusCode":401,"isRetryable":false}}`:        trace.ClassAuth,
		`{"name":"APIError","data":{"message":"x","statusCode":402,"isRetryable":false}}`:        trace.ClassRateLimit,
		`{"name":"APIError","data":{"message":"x","statusCode":529,"isRetryable":true}}`:         trace.ClassOverloaded,
		`{"name":"APIError","data":{"message":"x","statusCode":404,"isRetryable":false}}`:        trace.ClassRequest,
		`{"name":"APIError","data":{"message":"Connection reset by server","isRetryable":true}}`: trace.ClassNetwork,
		`{"name":"APIError","data":{"message":"x","isRetryable":false}}`:                         "",
		`{"name":"ContextOverflowError","data":{"message":"x"}}`:                                 trace.ClassContext,
		`{"name":"MessageOutputLengthError","data":{}}`:                                          trace.ClassLimit,
		`{"name":"UnknownError","data":{"message":"x"}}`:                                         "",
		`{"name":"FromTheFuture","data":{"message":"x"}}`:                                        "",
		`{"name":"MessageAbortedError","data":{"message":"x","statusCode":500}}`:                 "",
	} {
		if _, _, stop := played(t, asked, sse("session.error", `"error":`+fault), idle); stop.Class != want {
			t.Errorf("%s: it ended as %+v, want the class %q", fault, stop, want)
		}
	}
}
