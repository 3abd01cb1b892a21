package agui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/testkit/installed"
	"github.com/tributary-dev/tributary/trace"
)

const home = "../../test/conformance/agui"

// record writes what the real endpoints say into the recordings.
var record = flag.Bool("record", false, "write the recordings of real endpoints anew") //nolint:gochecknoglobals // as flags are

// endpoints starts a program that writes the addresses of its endpoints, and ends with its
// standard input.
func endpoints(t *testing.T, needs string, command ...string) map[string]string {
	t.Helper()
	if testing.Short() {
		t.Skip("real endpoints take some seconds")
	}
	_, err := os.Stat(filepath.Join(home, needs))
	installed.Needed(t, err == nil, "the endpoints are not installed: run make agui")
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...) //nolint:gosec // a program of the tests'
	cmd.Dir = home
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // ended with its standard input, or by the context of the test
	})
	cmd.WaitDelay = 5 * time.Second
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var all map[string]string
	if err != nil || json.Unmarshal(line, &all) != nil {
		t.Fatalf("the endpoints do not start: %s, %v", line, err)
	}
	return all
}

// clock is what differs in each recording.
var clock = regexp.MustCompile(`"timestamp":\d+,?`)

// number is what a server counts in the id of a call.
var number = regexp.MustCompile(`call_m\d+`)

// recorder keeps the messages of a session, if recordings are to be written.
func recorder(t *testing.T, name string) func(agent.Message) {
	t.Helper()
	if !*record {
		return nil
	}
	var lines []string
	t.Cleanup(func() {
		if len(lines) < 2 {
			return // the endpoint has refused the run
		}
		if err := os.WriteFile(filepath.Join(recordings, name+".jsonl"), []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Error(err)
		}
	})
	return func(m agent.Message) {
		clean := strings.ReplaceAll(clock.ReplaceAllString(string(m.Data), ""), ",}", "}")
		lines = append(lines, fmt.Sprintf(`{"dir":%q,"channel":%q,"msg":%s}`+"\n", m.Dir, m.Channel, clean))
	}
}

// expected is what the turns of an endpoint say, by prompts. The prompts of a case are one
// conversation. A turn that is abandoned is stopped while it waits for an answer.
type expected struct {
	prompts []string
	want    []string // of the last
	allow   func(context.Context, trace.PermissionRequest) trace.PermissionResponse
}

func checkEndpoint(t *testing.T, name, address string, cases map[string]expected) {
	t.Helper()
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			s := tapped(t, address, recorder(t, name+"-"+strings.ReplaceAll(what, " ", "-")), tools)
			s.host.OnPermit = c.allow
			s.host.OnAsk = answer(`{"colour":"red"}`)
			var got []string
			for _, p := range c.prompts {
				if p, is := strings.CutPrefix(p, "abandon "); is {
					s.abandons(p)
					continue
				}
				got = s.says(p)
			}
			for i := range got {
				got[i] = number.ReplaceAllString(got[i], "call_m")
			}
			same(t, got, c.want)
		})
	}
}

func TestRealEndpoints(t *testing.T) {
	t.Parallel()
	all := endpoints(t, "node_modules/@tanstack", "node", "server.mjs")
	t.Run("aimock", func(t *testing.T) {
		checkEndpoint(t, "aimock", all["aimock"], map[string]expected{
			"text":     {prompts: []string{"hello"}, want: []string{"Hello from the mock.", "completed stop"}},
			"thought":  {prompts: []string{"think"}, want: []string{"(I should think.)", "completed stop"}},
			"tool":     {prompts: []string{"weather"}, want: []string{`get_weather{"city":"Paris"}`, `completed:{"degrees":21}`, "completed stop"}},
			"app tool": {prompts: []string{"pick"}, want: []string{`pick{"of":3}`, `The agent calls pick of the app with {"of":3}. What is the result??`, `selected ["{\"colour\":\"red\"}"]`, `completed:{"colour":"red"}`, "Thank you.", "completed stop"}},
			"approval": {prompts: []string{"approve"}, allow: allow(""), want: []string{`pick{"of":3}`, "may c1? Pick?", `completed:"sent"`, "That was it.", "completed stop"}},
			"refusal":  {prompts: []string{"never heard of"}, want: []string{"failed refused The AG-UI agent did not take the prompt: No matching AG-UI fixture"}},
		})
	})
	t.Run("tanstack", func(t *testing.T) {
		checkEndpoint(t, "tanstack", all["tanstack"], map[string]expected{
			"text":     {prompts: []string{"one", "two"}, want: []string{"You said: one / two", "completed stop"}},
			"thought":  {prompts: []string{"think"}, want: []string{"(I should think.)", "So I answer.", "completed stop"}},
			"tool":     {prompts: []string{"weather"}, want: []string{"Let me see. ", `weather{"city":"Paris"}`, `completed:{"city":"Paris","degrees":21}`, `The tool: {"city":"Paris","degrees":21}`, "completed stop"}},
			"approved": {prompts: []string{"mail"}, allow: allow(""), want: []string{"Let me see. ", `mail{"city":"Paris"}`, "may call_m? Approval required to run mail", `completed:{"sent":true}`, `The tool: {"sent":true}`, "completed stop"}},
			"rejected": {prompts: []string{"mail"}, allow: reject, want: []string{
				"Let me see. ", `mail{"city":"Paris"}`, "may call_m? Approval required to run mail", `denied:{"error":"User declined tool execution"}`,
				`The tool: {"error":"User declined tool execution"}`, "completed stop",
			}},
			"app tool": {prompts: []string{"pick"}, want: []string{
				"Let me see. ", `pick{"city":"Paris"}`, "Client tool pick is ready to run?", `selected ["{\"colour\":\"red\"}"]`, `completed:{"colour":"red"}`, `The tool: {"colour":"red"}`, "completed stop",
			}},
			"after an abandoned approval": {prompts: []string{"abandon mail", "two"}, want: []string{`The tool: {"error":"Tool execution cancelled"}`, "completed stop"}},
			"failure":                     {prompts: []string{"fail"}, want: []string{"failed error the model exploded"}},
			"after an approval":           {prompts: []string{"mail", "two"}, allow: allow(""), want: []string{"You said: mail / two", "completed stop"}},
			"after an app tool":           {prompts: []string{"pick", "two"}, allow: allow(""), want: []string{"You said: pick / two", "completed stop"}},
			"history":                     {prompts: []string{"weather", "two"}, want: []string{"You said: weather / two", "completed stop"}},
		})
	})
}

func TestRealPydanticAI(t *testing.T) {
	t.Parallel()
	python, err := filepath.Abs(filepath.Join(home, "venv/bin/python"))
	if err != nil {
		t.Fatal(err)
	}
	all := endpoints(t, "venv/bin/python", python, "app.py")
	checkEndpoint(t, "pydantic", all["pydantic"], map[string]expected{
		"text":    {prompts: []string{"one", "two"}, want: []string{"You said: one / two", "completed stop"}},
		"thought": {prompts: []string{"think", "two"}, want: []string{"You said: think / two", "completed stop"}},
		"tool":    {prompts: []string{"weather"}, want: []string{"Let me see. ", `weather{"city":"Paris"}`, `completed:{"city":"Paris","degrees":21}`, `The tool: {"city": "Paris", "degrees": 21}`, "completed stop"}},
		"approved": {prompts: []string{"mail"}, allow: allow(""), want: []string{
			"Let me see. ", `mail{"city":"Paris"}`, `may call_1? Approve mail({"city":"Paris"})?`, `completed:"sent to Paris"`, `The tool: "sent to Paris"`, "completed stop",
		}},
		"edited": {prompts: []string{"mail"}, allow: allow(`{"city":"Rome"}`), want: []string{
			"Let me see. ", `mail{"city":"Paris"}`, `may call_1? Approve mail({"city":"Paris"})?`, `mail{"city":"Rome"}`, `completed:"sent to Rome"`, `The tool: "sent to Rome"`, "completed stop",
		}},
		"rejected": {prompts: []string{"mail"}, allow: reject, want: []string{
			"Let me see. ", `mail{"city":"Paris"}`, `may call_1? Approve mail({"city":"Paris"})?`, "denied:not now", `The tool: "not now"`, "completed stop",
		}},
		"not answered": {prompts: []string{"mail"}, want: []string{
			"Let me see. ", `mail{"city":"Paris"}`, `may call_1? Approve mail({"city":"Paris"})?`, `completed:"Cancelled by user."`, `The tool: "Cancelled by user."`, "completed stop",
		}},
		"after an abandoned approval": {prompts: []string{"abandon mail", "two"}, want: []string{"You said: mail / two", "completed stop"}},
		"both": {prompts: []string{"both"}, allow: allow(""), want: []string{
			`mail{"city":"city 1"}`, `mail{"city":"city 2"}`, `may both_1? Approve mail({"city":"city 1"})?`, `may both_2? Approve mail({"city":"city 2"})?`,
			`completed:"sent to city 1"`, `completed:"sent to city 2"`, `The tool: "sent to city 2"`, "completed stop",
		}},
		"app tool": {prompts: []string{"pick"}, want: []string{
			"Let me see. ", `pick{"city":"Paris"}`, `The agent calls pick of the app with {"city":"Paris"}. What is the result??`, `selected ["{\"colour\":\"red\"}"]`,
			`completed:{"colour":"red"}`, `The tool: {"colour": "red"}`, "completed stop",
		}},
		"failure":           {prompts: []string{"fail"}, want: []string{"I start, but ", "failed error the model exploded"}},
		"after a failure":   {prompts: []string{"fail", "two"}, want: []string{"You said: fail / two", "completed stop"}},
		"after an approval": {prompts: []string{"mail", "two"}, allow: allow(""), want: []string{"You said: mail / two", "completed stop"}},
		"after an app tool": {prompts: []string{"pick", "two"}, allow: allow(""), want: []string{"You said: pick / two", "completed stop"}},
		"history":           {prompts: []string{"weather", "two"}, want: []string{"You said: weather / two", "completed stop"}},
	})
}
