package agentops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// moment is how far a turn has come.
type moment int

const (
	shown   moment = iota // the agent has the prompt, and has said nothing at all
	thinks                // it is at work
	empty                 // its message has begun, and holds nothing
	inText                // it is saying something
	inTool                // a tool runs
	asks                  // it waits for an answer
	moments               // how many there are
)

func (m moment) String() string {
	return [...]string{"shown", "thinks", "empty", "in text", "a tool runs", "asks"}[m]
}

// put names the channel of a frame; "" is the default one.
func put(frame, channel string) string {
	if channel == "" {
		return frame
	}
	kind, id, _ := strings.Cut(channel, ":")
	where := fmt.Sprintf(`,"channelType":%q,"channelId":%q`, kind, id)
	if body, ok := strings.CutSuffix(frame, "}}"); ok && strings.Contains(frame, `"data"`) {
		return body + where + "}}"
	}
	return strings.TrimSuffix(frame, "}") + where + "}"
}

// rivals is a prompt that comes while the turn of another runs.
type rivals struct {
	at      moment
	by      string // whose the second one is: u1 is us
	here    bool   // it is sent from here
	channel string // of the second one
	amid    bool   // a frame of the first one's turn comes before word that the second one waits
	abort   string // "", or who stops the first one
}

func (r rivals) String() string {
	return fmt.Sprintf("%s/by %s here %v/in %q/amid %v/abort %q", r.at, r.by, r.here, r.channel, r.amid, r.abort)
}

// steps are the frames of the first turn, those of each moment.
func (r rivals) steps() [moments + 1][]string {
	call := func(status, rest string) string { return toolPart("c", status, `,"args":{"x":1}`+rest) }
	question := `{"type":"interactive_prompt","prompt":{"id":"q","sessionId":"s","type":"question","title":"Which?","actions":[],"context":{}}}`
	answered := `{"type":"interactive_prompt_resolved","promptId":"q","promptType":"question","resolution":{"value":"red","resolvedBy":"u1"}}`
	whole := func(parts ...string) string { return wholeFrame("t1", parts...) }
	said, ran := textPart("one"), call("completed", `,"result":1`)
	return [...][]string{
		{userFrame("p1", "One", "u1")},
		{thinking},
		{streaming, startFrame("t1")},
		{chunkFrame("t1", "one")},
		{`{"type":"agentStatus","status":"tool_calling","detail":"bash"}`, whole(said, call("running", ""))},
		{whole(said, ran), question, idle},
		{answered, streaming, chunkFrame("t1", "more"), whole(said, ran, textPart("more"), finishPart("end_turn"))},
	}
}

// waits is how the second prompt is told to wait.
func (r rivals) waits() (frames []string) {
	return []string{
		`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Two"}}}`,
		`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`,
	}
}

// runs are the frames of the second turn, from when it is its turn.
func (r rivals) runs() (frames []string) {
	frames = append(frames, put(userFrame("p2", "Two", r.by), r.channel), `{"type":"queue.state","data":{"pending":null}}`, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`)
	if r.abort != "" {
		frames = append(frames, idle) // the first one's, and late
	}
	for _, f := range []string{thinking, streaming, startFrame("t2"), chunkFrame("t2", "two"), wholeFrame("t2", textPart("two"), finishPart("end_turn"))} {
		frames = append(frames, put(f, r.channel))
	}
	return append(frames, notBusy)
}

// recording is what a browser sees of both.
func (r rivals) recording() []string {
	all := []string{toUs(helloHead), toUs(joined), fromUs(promptFrame("One"))}
	told := func(frames ...string) {
		for _, f := range frames {
			all = append(all, toUs(f))
		}
	}
	steps := r.steps()
	for m := range steps {
		told(steps[m]...)
		if moment(m) != r.at {
			continue
		}
		if r.here {
			all = append(all, fromUs(put(promptFrame("Two"), r.channel)))
		}
		waits := r.waits()
		if r.amid {
			told(waits[0], steps[m+1][0])
			steps[m+1] = steps[m+1][1:]
			waits = waits[1:]
		}
		told(waits...)
		if r.abort == "" {
			continue
		}
		if r.abort == "here" {
			all = append(all, fromUs(`{"type":"abort"}`))
		}
		told(idle)
		if r.at >= empty {
			told(chunkFrame("t1", " late"))
		}
		told(idle)
		break
	}
	told(r.runs()...)
	return all
}

// want is what the two turns amount to.
func (r rivals) want() []sum {
	first := sum{Asked: "One by u1", End: done}
	reached := func(m moment) bool { return r.abort == "" || r.at >= m }
	if reached(empty) {
		first.Steps = []string{"t1"}
	}
	if reached(inText) {
		first.Text = []string{"one"}
	}
	if reached(inTool) {
		first.Tools = []string{`c completed {"x":1} 1`}
	}
	switch {
	case r.abort == "":
		first.Text, first.Answers = []string{"one", "more"}, []string{"q selected red"}
	case r.at == inTool:
		first.Tools = []string{`c canceled {"x":1} null Not finished: the turn was stopped.`}
		fallthrough
	default:
		first.End = "canceled"
	}
	if r.at == asks && r.abort != "" {
		first.Answers = []string{"q canceled "}
	}
	var all []sum
	if r.abort == "" || r.at > shown { // else nothing was seen of it
		all = append(all, first)
	}
	return append(all, sum{Asked: "Two by " + r.by, Steps: []string{"t2"}, Text: []string{"two"}, End: done})
}

// A prompt that comes while another's turn runs ends nothing.
func TestE08_APromptEndsNoTurnThatRuns(t *testing.T) {
	t.Parallel()
	for at := range moments {
		for _, by := range []rivals{{by: "u1", here: true}, {by: "u1"}, {by: "u2"}} {
			for _, channel := range []string{"", "thread:B", "slack:C"} {
				for _, abort := range []string{"", "here", "there"} {
					for _, amid := range []bool{false, true} {
						if amid && abort != "" {
							continue
						}
						r := rivals{at, by.by, by.here, channel, amid, abort}
						t.Run(r.String(), func(t *testing.T) {
							recording := r.recording()
							if d := cmp.Diff(r.want(), sums(playBack(t, recording))); d != "" {
								t.Errorf("(-want +got):\n%s\n%s", d, strings.Join(slices.Clone(recording), "\n"))
							}
						})
					}
				}
			}
		}
	}
}
