package cli

import (
	"os"
	"strings"
	"testing"
)

// TestConvertReadsTheBodyOfARun: of AG-UI, as server-sent events and as lines of JSON.
func TestConvertReadsTheBodyOfARun(t *testing.T) {
	t.Parallel()
	const body = "../../test/recordings/agui/pydantic-weather.sse"
	data, err := os.ReadFile(body)
	if err != nil {
		t.Fatal(err)
	}
	events := command(t, "", "convert", "--from", "agui", body)
	events.want(t, exitOK, "")
	lines := command(t, strings.ReplaceAll(string(data), "data: ", ""), "convert", "--from", "agui", "-")
	lines.want(t, exitOK, "")
	if events.out != lines.out || !strings.Contains(events.out, `"type":"tool-output-available"`) || strings.Contains(events.out, "agui") {
		t.Errorf("events give\n%s\nand lines give\n%s", events.out, lines.out)
	}
	other := command(t, "", "convert", "--from", "agui", "../../test/recordings/claude/tool.jsonl")
	other.want(t, exitFailed, "no message of the recording could be understood")
}

// TestConvertShowsAToolOfTheAppAsACallThatTheClientAnswers: it is not marked as the agent's.
func TestConvertShowsAToolOfTheAppAsACallThatTheClientAnswers(t *testing.T) {
	t.Parallel()
	got := command(t, "", "convert", "--from", "agui", "../../test/recordings/agui/pydantic-app-tool.jsonl")
	got.want(t, exitOK, "")
	if !strings.Contains(got.out, `{"type":"tool-input-available","toolCallId":"call_1","toolName":"pick","input":{"city":"Paris"},"providerMetadata":{"tributary":{"kind":"other",`) || strings.Contains(got.out, "AskUser") {
		t.Errorf("the stream is %s", got.out)
	}
}
