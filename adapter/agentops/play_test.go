package agentops_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// recordedLine is a line of a recording.
func recordedLine(dir, frame string) string { return fmt.Sprintf(`{"dir":%q,"msg":%s}`, dir, frame) }

func toUs(frame string) string     { return recordedLine("s2c", frame) } // a browser's frame
func fromUs(frame string) string   { return recordedLine("c2s", frame) }
func ofRunner(frame string) string { return recordedLine("r2d", frame) } // a V2 frame
func toRunner(frame string) string { return recordedLine("d2r", frame) }

// Frames of a session agent.
const (
	initFrame = `{"type":"init","session":{"id":"s","status":"running","title":"T"},"data":{"runnerBusy":false,"connectedUsers":["u1"],"pendingPrompt":null}}`
	joined    = `{"type":"user.joined","userId":"u1","userDetails":{"name":"Dana"},"connectedUsers":[{"id":"u1","name":"Dana"}]}`
	notBusy   = `{"type":"status","data":{"runnerBusy":false}}`
	idle      = `{"type":"agentStatus","status":"idle"}`
	thinking  = `{"type":"agentStatus","status":"thinking"}`
	streaming = `{"type":"agentStatus","status":"streaming"}`
)

func promptFrame(text string) string { return fmt.Sprintf(`{"type":"prompt","content":%q}`, text) }

func userFrame(id, text, by string) string {
	return fmt.Sprintf(`{"type":"message","data":{"id":%q,"role":"user","content":%q,"authorId":%q,"createdAt":1}}`, id, text, by)
}

func startFrame(turn string) string {
	return fmt.Sprintf(`{"type":"message","data":{"id":%q,"role":"assistant","content":"","parts":[],"createdAt":2}}`, turn)
}

func chunkFrame(turn, text string) string {
	return fmt.Sprintf(`{"type":"chunk","content":%q,"messageId":%q}`, text, turn)
}

func wholeFrame(turn string, parts ...string) string {
	return fmt.Sprintf(`{"type":"message.updated","data":{"id":%q,"role":"assistant","content":"","parts":[%s]}}`, turn, strings.Join(parts, ","))
}

func textPart(s string) string { return fmt.Sprintf(`{"type":"text","text":%q,"streaming":false}`, s) }

func toolPart(id, status, rest string) string {
	return fmt.Sprintf(`{"type":"tool-call","callId":%q,"toolName":"bash","status":%q%s}`, id, status, rest)
}

func finishPart(reason string) string { return fmt.Sprintf(`{"type":"finish","reason":%q}`, reason) }

func createFrame(turn string) string {
	return fmt.Sprintf(`{"type":"message.create","turnId":%q}`, turn)
}

func deltaFrame(turn, text string) string {
	return fmt.Sprintf(`{"type":"message.part.text-delta","turnId":%q,"delta":%q}`, turn, text)
}

func toolFrame(turn, id, status, rest string) string {
	return fmt.Sprintf(`{"type":"message.part.tool-update","turnId":%q,"callId":%q,"toolName":"bash","status":%q%s}`, turn, id, status, rest)
}

func finalizeFrame(turn, reason, rest string) string {
	return fmt.Sprintf(`{"type":"message.finalize","turnId":%q,"reason":%q%s}`, turn, reason, rest)
}

// promptBegun is a recording of a browser whose prompt the agent has begun to work on.
func promptBegun(hello string) []string {
	return []string{toUs(hello), toUs(joined), fromUs(promptFrame("Go")), toUs(userFrame("p1", "Go", "u1")), toUs(thinking)}
}

func lines(groups ...any) []string {
	var all []string
	for _, g := range groups {
		switch g := g.(type) {
		case string:
			all = append(all, g)
		case []string:
			all = append(all, g...)
		}
	}
	return all
}

// playBack runs a recording through a new decoder. A recording of a runner alone is first turned
// into the frames that the session agent sends to browsers.
func playBack(t testing.TB, recording []string) replaytest.Played {
	t.Helper()
	if text := strings.Join(recording, ""); strings.Contains(text, `"dir":"r2d"`) && !strings.Contains(text, `"dir":"s2c"`) {
		recording = relayed(t, recording)
	}
	return replaytest.Play(t, agentops.NewDecoder(agentops.Options{}), []byte(strings.Join(recording, "\n")))
}

// summary is the summary of a turn.
type summary struct {
	Asked   string
	Text    []string
	Tools   []string // "id status input output error"
	Answers []string
	Steps   []string
	Files   []string
	End     string // "outcome: error"
}

func summaries(p replaytest.Played) []summary {
	var all []summary
	for _, records := range p.Turns {
		all = append(all, summaryOf(records))
	}
	return all
}

func summaryOf(records []trace.Record) summary {
	var s summary
	calls := map[string]trace.ToolCall{}
	for _, r := range records {
		switch p := r.Payload.(type) {
		case trace.Prompt:
			for _, part := range p.Message.Parts {
				s.Asked += part.Text
			}
			if p.By != "" {
				s.Asked += " by " + p.By
			}
		case trace.Step:
			if p.NativeID != "" {
				s.Steps = append(s.Steps, p.NativeID)
			}
		case trace.Message:
			s.Text = append(s.Text, p.Text)
		case trace.ToolCall:
			calls[p.ToolCallID] = p
		case trace.ToolResult:
			s.Tools = append(s.Tools, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", p.ToolCallID, p.Status, calls[p.ToolCallID].Input, p.Output, p.Error)))
		case trace.Answer:
			s.Answers = append(s.Answers, fmt.Sprintf("%s %s %s", p.QuestionID, p.Outcome, strings.Join(p.Values, ",")))
		case trace.PermissionResponse:
			s.Answers = append(s.Answers, fmt.Sprintf("%s %s %s", p.RequestID, p.Outcome, p.ChosenOption))
		case trace.File:
			s.Files = append(s.Files, p.MediaType+" "+p.URL)
		case trace.Stop:
			s.End = string(p.Outcome)
			if p.Error != "" {
				s.End += ": " + p.Error
			}
		}
	}
	return s
}

// expect compares the turns of a recording with their summaries.
func expect(t *testing.T, recording []string, want ...summary) replaytest.Played {
	t.Helper()
	p := playBack(t, recording)
	if p.Skipped > 0 {
		t.Errorf("%d frames were not understood", p.Skipped)
	}
	if d := cmp.Diff(want, summaries(p)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	return p
}

// streams is the stream of each turn, one after another.
func streams(p replaytest.Played, o uistream.Options) []byte {
	var out []byte
	for _, records := range p.Turns {
		out = uistream.AppendTurn(out, slices.Values(records), o, uistream.Framing{})
	}
	return out
}

// domainEvents returns the values of the domain events, by name.
func domainEvents(records []trace.Record) map[string][]string {
	all := map[string][]string{}
	for _, r := range records {
		if d, ok := r.Payload.(trace.Data); ok && d.Domain {
			all[d.Name] = append(all[d.Name], string(compact(d.Value)))
		}
	}
	return all
}

func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func names(m map[string][]string) []string { return slices.Sorted(maps.Keys(m)) }
