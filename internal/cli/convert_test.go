package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

const recordings = "../../test/recordings/claude"

func recordingNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(recordings + "/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	return files
}

// frames splits server-sent events and returns their data, [DONE] too.
func frames(t *testing.T, text string) []string {
	t.Helper()
	var all []string
	for frame := range strings.SplitSeq(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		_, data, ok := strings.Cut("\n"+frame, "\ndata: ")
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("not a frame: %q", frame)
		}
		all = append(all, data)
	}
	return all
}

// TestConvert converts every recording: twice the same, each turn a stream of
// its own that every client of the profile takes.
func TestConvert(t *testing.T) {
	t.Parallel()
	for _, name := range recordingNames(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".jsonl"), func(t *testing.T) {
			t.Parallel()
			text := command(t, "", "convert", "--from", "claude", "--to", "trace", name)
			text.want(t, exitOK, "")
			var replies int
			turns := map[string]bool{}
			for _, r := range records(t, text.out) {
				if _, ok := r.Payload.(trace.Reply); ok {
					replies++
				}
				if _, ok := r.Payload.(trace.Stop); ok {
					turns[r.Turn] = true
				}
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if again := command(t, string(data), "convert", "--from", "claude", "--to", "trace", "-"); again != text {
				t.Error("the trace differs from standard input")
			}

			for _, client := range []string{"", "5", "6", "7", "7.0.173"} {
				args := []string{"convert", "--from", "claude", name}
				if client != "" {
					args = append(args, "--client", client)
				}
				stream := command(t, "", args...)
				stream.want(t, exitOK, "")
				if again := command(t, "", args...); again != stream {
					t.Errorf("client %q: the second time it differs", client)
				}
				checkStreams(t, client, stream.out, len(turns), replies)
			}
		})
	}
}

func checkStreams(t *testing.T, client, text string, turns, replies int) {
	t.Helper()
	profile, err := uistream.ParseProfile(client)
	if err != nil {
		t.Fatal(err)
	}
	all := frames(t, text)
	streams, inside := 0, false
	for i, f := range all {
		if f == "[DONE]" {
			streams++
			if !inside || !strings.HasPrefix(all[i-1], `{"type":"finish"`) {
				t.Errorf("client %q: stream %d ends after %s", client, streams, all[max(0, i-1)])
			}
			inside = false
			continue
		}
		if err := profile.Check([]byte(f)); err != nil {
			t.Errorf("client %q: %v: %s", client, err, f)
		}
		if first := strings.HasPrefix(f, `{"type":"start",`); first == inside {
			t.Errorf("client %q: %s stands in the wrong place", client, f)
		}
		inside = true
	}
	if inside || streams < turns || streams != replies {
		t.Errorf("client %q: %d streams for %d turns with %d replies; the last one is ended: %v", client, streams, turns, replies, !inside)
	}
}

func TestConvertGolden(t *testing.T) {
	t.Parallel()
	for _, c := range [][]string{
		{"plain"},
		{"tool"},
		{"permission-deny"},
		{"error-500"},
		{"interrupt"},
		{"two-turns"},
		{"empty"},
		{"permission-allow", "--client", "5"},
		{"tool-error", "--compat", "rfc"},
		{"ask-user", "--client", "7.0.173"},
	} {
		name := strings.Join(append([]string{"claude", c[0]}, slices.DeleteFunc(slices.Clone(c[1:]), func(s string) bool { return strings.HasPrefix(s, "--") })...), "-")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"convert", "--from", "claude"}, c[1:]...)
			r := command(t, "", append(args, filepath.Join(recordings, c[0]+".jsonl"))...)
			r.want(t, exitOK, "")
			golden(t, filepath.Join("convert", name+".sse"), r.out)
		})
	}
}

// TestSilentTurn: a turn without text is still a message.
func TestSilentTurn(t *testing.T) {
	t.Parallel()
	lines := `{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}
{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","num_turns":0}
`
	r := command(t, lines, "convert", "--from", "claude", "-")
	r.want(t, exitOK, "")
	var kinds []string
	for _, f := range frames(t, r.out) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(f, `{"type":"`), `"`)
		kinds = append(kinds, kind)
	}
	want := []string{"start", "finish", "[DONE]"}
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return strings.HasPrefix(k, "data-") })
	if !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

func TestConvertFaults(t *testing.T) {
	t.Parallel()
	good := filepath.Join(recordings, "plain.jsonl")
	for name, c := range map[string]struct {
		status int
		stdin  string
		says   string
		args   []string
	}{
		"unknown adapter":              {exitUsage, "", "--from gpt names no adapter that reads recordings: use one of acp, agentops, agui, claude", []string{"--from", "gpt", good}},
		"no recordings":                {exitUsage, "", "--from demo names no adapter that reads recordings: use one of acp, agentops, agui, claude", []string{"--from", "demo", good}},
		"no adapter":                   {exitUsage, "", "--from is missing: write --from ADAPTER", []string{good}},
		"only a file of configuration": {exitUsage, "", "--config is for --agent: name the agent", []string{"--from", "claude", "--config", "x.yaml", good}},
		"unknown agent":                {exitUsage, "", `there is no agent "reviewer"`, []string{"--agent", "reviewer", good}},
		"no time":                      {exitUsage, "", "--at yesterday is no time: write one such as 2026-03-04T05:06:07Z", []string{"--from", "claude", "--at", "yesterday", good}},
		"no file":                      {exitUsage, "", "the file is missing", []string{"--from", "claude"}},
		"unknown form":                 {exitUsage, "", "--to json is unknown: use uistream, legacy, trace, atif or otlp", []string{"--from", "claude", "--to", "json", good}},
		"unknown client":               {exitUsage, "", `--client="4" is not a version of the AI SDK`, []string{"--from", "claude", "--client", "4", good}},
		"unknown compat":               {exitUsage, "", "--compat old is unknown: the only one is rfc", []string{"--from", "claude", "--compat", "old", good}},
		"file not there":               {exitFailed, "", "the recording cannot be read: open no.jsonl: no such file or directory", []string{"--from", "claude", "no.jsonl"}},
		"directory":                    {exitFailed, "", "is a directory", []string{"--from", "claude", recordings}},
		"nothing":                      {exitFailed, "", "the recording holds no message: is it the right file?", []string{"--from", "claude", "-"}},
		"not a recording":              {exitFailed, "hello\nyou\n", "tributary: ", []string{"--from", "claude", "-"}},
		"other's protocol":             {exitFailed, strings.Repeat("[1]\n", 3), "no message of the recording could be understood: is it of this agent?", []string{"--from", "claude", "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command(t, c.stdin, append([]string{"convert"}, c.args...)...)
			r.want(t, c.status, c.says)
			if r.out != "" || strings.Count(r.errors, "\n") != 1 {
				t.Errorf("more than a sentence: %s%s", r.out, r.errors)
			}
		})
	}
}

// TestConvertFailedTurn: a failed turn is content, and no fault of the command.
func TestConvertFailedTurn(t *testing.T) {
	t.Parallel()
	r := command(t, "", "convert", "--from", "claude", filepath.Join(recordings, "error-500.jsonl"))
	r.want(t, exitOK, "")
	if !strings.Contains(r.out, `"type":"error"`) {
		t.Errorf("no error in the stream:\n%s", r.out)
	}
}

// A recording of a preset is read with the signs by which that agent shows a failure.
func TestConvertReadsARecordingOfAPreset(t *testing.T) {
	t.Parallel()
	const recording = `{"dir":"in","msg":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}}
{"dir":"out","msg":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Error: no such model"}}}}}
{"dir":"out","msg":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}
`
	for from, want := range map[string]trace.Outcome{"acp": trace.OutcomeCompleted, "copilot": trace.OutcomeFailed} {
		text := command(t, recording, "convert", "--from", from, "--to", "trace", "-")
		text.want(t, exitOK, "")
		all := records(t, text.out)
		if stop, _ := all[len(all)-1].Payload.(trace.Stop); stop.Outcome != want {
			t.Errorf("%s: the turn ended as %+v", from, stop)
		}
	}
}
