package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// toy is the decoder of a protocol made of JSON strings: "prompt X" from the
// host; "say X", "note X" and "end" from the agent.
type toy struct{ heard []string }

func (d *toy) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	d.heard = append(d.heard, fmt.Sprintf("%s %s %s", m.Dir, m.Channel, m.Data))
	var text string
	if err := json.Unmarshal(m.Data, &text); err != nil {
		return nil, err
	}
	verb, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "prompt":
		t.Prompted(trace.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: rest}}}})
	case "say":
		b := t.Current()
		if b == nil {
			b = t.Begin(agent.TurnInfo{})
		}
		b.Message("k"+rest, rest)
	case "note":
		t.Note(trace.Data{Name: "n", Value: m.Data})
	case "end":
		t.Current().End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	}
	return nil, nil
}

func run(t *testing.T, recording string) (*toy, []trace.Record, replay.Summary, error) {
	t.Helper()
	d := &toy{}
	var records []trace.Record
	sum, err := replay.Run(t.Context(), d, iotest.OneByteReader(strings.NewReader(recording)), func(r trace.Record) error {
		records = append(records, r)
		return nil
	})
	return d, records, sum, err
}

// brief tells the records: turn, time in ms, kind.
func brief(records []trace.Record) []string {
	var lines []string
	for i, r := range records {
		if r.Seq != uint64(i+1) {
			lines = append(lines, "a gap")
		}
		switch p := r.Payload.(type) {
		case trace.Message:
			lines = append(lines, fmt.Sprintf("%s %d %s", r.Turn, r.Time.UnixMilli(), p.Text))
		case trace.Stop:
			lines = append(lines, fmt.Sprintf("%s %d stop %s", r.Turn, r.Time.UnixMilli(), p.Reason))
		case trace.Data:
			lines = append(lines, fmt.Sprintf("%s %d note", r.Turn, r.Time.UnixMilli()))
		case trace.Prompt:
			lines = append(lines, fmt.Sprintf("%s %d prompt", r.Turn, r.Time.UnixMilli()))
		}
	}
	return lines
}

func TestOurRecording(t *testing.T) {
	t.Parallel()
	d, records, sum, err := run(t, `{"t":0,"dir":"meta","cmd":"toy"}
{"t":1,"dir":"in","msg":"prompt one"}
{"t":5,"dir":"out","msg":"say a"}
{"t":4,"dir":"err","text":"note grumble"}
{"t":6,"dir":"out","msg":"note x"}

{"t":7,"dir":"meta","expect":{}}
{"t":8,"dir":"callback","msg":"say no"}
{"t":9,"dir":"out","msg":"end"}
{"t":9,"dir":"out","msg":"note y"}
{"t":10,"dir":"sse","msg":"say b"}
{"t":11,"dir":"out","msg":{"not":"toy"}}
{"t":12,"dir":"http-req","method":"POST"}
{"t":13,"dir":"out","msg":"say c"`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"turn-1 1 prompt", "turn-1 5 a", "turn-1 9 stop end_turn", " 5 note", " 6 note", " 9 note",
		"turn-2 10 b", "turn-2 12 stop recording_ended",
	}
	if diff := cmp.Diff(want, brief(records)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sum.Turns != 2 || sum.Skipped != 3 || sum.First == nil {
		t.Errorf("the summary is %+v", sum)
	}
	if got := d.heard[len(d.heard)-2]; got != `in http-req {"t":12,"dir":"http-req","method":"POST"}` {
		t.Errorf("the decoder got %s", got)
	}
}

func TestNativeLines(t *testing.T) {
	t.Parallel()
	_, records, _, err := run(t, "\uFEFF\r\n\"say a\"\r\nnot JSON\n\n\"end\"\n\"say b\"")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"turn-1 0 a", "turn-1 0 stop end_turn", "turn-2 0 b", "turn-2 0 stop recording_ended"}, brief(records)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestServerSentEvents(t *testing.T) {
	t.Parallel()
	d, _, _, err := run(t, ": hello\r\nevent: messages\r\nid: 7\r\ndata: \"say a\"\r\n\r\ndata: [1,\ndata: 2]\n\n\n:\n\ndata:[DONE]")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`out messages "say a"`, "out  [1,\n2]", `out  "[DONE]"`}, d.heard); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for recording, want := range map[string]string{
		"":                  "holds no message",
		"\n\n":              "holds no message",
		"Dear diary,\n":     "neither lines of JSON nor server-sent events",
		`{"dir":"meta"}`:    "holds no message",
		"{\"other\":1}\n{}": "no message of the recording could be understood",
	} {
		if _, _, _, err := run(t, recording); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", recording, err, want)
		}
	}
	broken := errors.New("the disk is broken")
	_, err := replay.Run(t.Context(), &toy{}, iotest.ErrReader(broken), func(trace.Record) error { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("a broken disk: %v", err)
	}
}

func TestEmitFails(t *testing.T) {
	t.Parallel()
	full := errors.New("the pipe is closed")
	for after := range 4 {
		n := 0
		_, err := replay.Run(context.Background(), &toy{}, strings.NewReader("\"say a\"\n\"note x\"\n\"end\"\n\"note y\"\n"+strings.Repeat("\"say b\"\n", 100)), func(trace.Record) error {
			if n++; n > after {
				return full
			}
			return nil
		})
		if !errors.Is(err, full) {
			t.Errorf("after %d records: %v", after, err)
		}
	}
}

// agentToy is a toy that says of itself what each of its messages holds.
type agentToy struct{}

func (agentToy) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var a trace.AgentInfo
	if json.Unmarshal(m.Data, &a) == nil {
		t.Note(a.Payload())
		return nil, nil
	}
	b := t.Begin(agent.TurnInfo{})
	b.Message("k", "hello")
	b.End(trace.Stop{Reason: "end_turn"})
	return nil, nil
}

// What a decoder learns of the agent is added to its name and adapter, and what is known is not
// written again.
func TestTheAgentOfARecording(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		recording string
		want      []trace.AgentInfo
	}{
		{`"hello"`, []trace.AgentInfo{{Name: "n", Adapter: "toy"}}},
		{`{"product":"P"}
"hello"
{"product":"P"}
{"model":"m"}
"hello"`, []trace.AgentInfo{{Name: "n", Adapter: "toy", Product: "P"}, {Name: "n", Adapter: "toy", Product: "P", Model: "m"}}},
	} {
		var got []trace.AgentInfo
		n := uint64(0)
		_, err := replay.Options{Agent: trace.AgentInfo{Name: "n", Adapter: "toy"}}.Run(t.Context(), agentToy{}, strings.NewReader(c.recording), func(r trace.Record) error {
			if n++; r.Seq != n {
				t.Errorf("record %d has the number %d", n, r.Seq)
			}
			if d, is := r.Payload.(trace.Data); is {
				a, _ := d.Agent()
				got = append(got, a)
			} else if len(got) == 0 {
				t.Errorf("%s is before the agent", r.Payload.Kind())
			}
			return nil
		})
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	t.Parallel()
	recording := strings.Repeat("{\"t\":3,\"dir\":\"out\",\"msg\":\"say a\"}\n{\"t\":3,\"dir\":\"out\",\"msg\":\"note a\"}\n", 50)
	_, first, _, _ := run(t, recording)
	for range 5 {
		time.Sleep(time.Millisecond)
		_, again, _, _ := run(t, recording)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("(-first +again):\n%s", diff)
		}
	}
}
