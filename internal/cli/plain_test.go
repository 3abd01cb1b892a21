package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A mistake in the command line gets one sentence that says what to write.
func TestAMistakeInTheCommandLineGetsASentence(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"serve --listen": "tributary: --listen has no value: write --listen HOST:PORT (tributary --help shows what there is)\n",
		"serve --data":   "tributary: --data has no value: write --data DIR (tributary --help shows what there is)\n",
		"convert --from": "tributary: --from has no value: write --from ADAPTER (tributary --help shows what there is)\n",
		"run":            "tributary: the prompt is missing: write it at the end, in quotation marks if it has spaces, or - for standard input (tributary --help shows what there is)\n",
		"serve --port 1": "tributary: unknown flag --port (tributary --help shows what there is)\n",
	} {
		if r := command(t, "", strings.Fields(line)...); r.status != exitUsage || r.errors != want || r.out != "" {
			t.Errorf("%s: %d %s%s", line, r.status, r.out, r.errors)
		}
	}
}

func TestConvertOfNothingSaysSo(t *testing.T) {
	t.Parallel()
	const nothing = "nothing in the recording is a message of claude that means anything: is it of another agent? The adapters that read recordings are "
	command(t, `{"a":1}`+"\n", "convert", "--from", "claude", "-").want(t, exitFailed, nothing)
	command(t, `{"a":1}`+"\n", "convert", "--from", "claude", "--to", "trace", "-").want(t, exitFailed, nothing)
	command(t, "", "convert", "--from", "claude", "-").want(t, exitFailed, "the recording holds no message")
	// A recording of both sides in which nothing happened is a recording.
	both := `{"t":1,"dir":"in","msg":{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}}` + "\n"
	command(t, both, "convert", "--from", "claude", "-").want(t, exitOK, "nothing happened in the recording")
}

// An agent that does not tell its version does not hold up the start. The gateway says
// which agent cannot start.
func TestServeSaysWhichAgentCannotStart(t *testing.T) {
	t.Parallel()
	slow := file(t, "claude", "#!/bin/sh\nexec sleep 30\n")
	works := file(t, "claude", "#!/bin/sh\necho 9.8.7\n")
	conf := file(t, "tributary.yaml", `
default_agent: lost
agents:
  lost: {adapter: claude, command: /no/such/claude}
  slow: {adapter: claude, command: `+slow+`}
  works: {adapter: claude, command: `+works+`}
`)
	began := time.Now()
	s := startServer(t, t.TempDir(), "--config", conf)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("ready after %s", took)
	}
	// The start waits a second for what agents tell; on a busy machine they tell it later.
	var list struct{ Agents []map[string]any }
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		_, body := s.do("GET", "/api/agents", "")
		list.Agents = nil
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Agents) != 3 {
			t.Fatalf("%v %s", err, body)
		}
		told := list.Agents[0]["available"] != nil && list.Agents[2]["available"] != nil
		if said := strings.Contains(s.errors.String(), `"an agent cannot start","agent":"lost","default":true,"why":"/no/such/claude was not found`); told && said {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not said: %s\n%s", body, s.errors.String())
		}
	}
	lost, late, fine := list.Agents[0], list.Agents[1], list.Agents[2]
	if why, _ := lost["reason"].(string); lost["available"] != false || !strings.Contains(why, "was not found") || lost["default"] != true {
		t.Errorf("%v", lost)
	}
	if _, known := late["available"]; known {
		t.Errorf("%v", late)
	}
	if fine["available"] != true || fine["version"] != "9.8.7" {
		t.Errorf("%v", fine)
	}
}

func TestAgentsListsWhatIsNotConfigured(t *testing.T) {
	t.Parallel()
	r := command(t, "", "agents", "--config", file(t, "tributary.yaml", "agents: {demo: {}}"))
	r.want(t, exitOK, "")
	if !strings.Contains(strings.Join(strings.Fields(r.out), " "), "claude claude - - not configured: write `agents: {claude: {}}`") || strings.Contains(r.out, "agentops") {
		t.Errorf("the table:\n%s", r.out)
	}
}
