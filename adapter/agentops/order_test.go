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
	shown   moment = iota // the agent has the prompt, and has sent no frame
	thinks                // the agent is at work
	empty                 // the agent's message has begun, and is empty
	inText                // the agent streams a text
	inTool                // a tool runs
	asks                  // the agent waits for an answer
	moments               // the number of moments
)

func (m moment) String() string {
	return [...]string{"shown", "thinks", "empty", "in text", "a tool runs", "asks"}[m]
}

// inChannel names the channel of a frame; "" is the default one.
func inChannel(frame, channel string) string {
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

// twoPrompts are two prompts: the second comes while the turn of the first runs.
type twoPrompts struct {
	at      moment
	by      string // the user of the second prompt; u1 is the user of this gateway
	here    bool   // this gateway sends the second prompt
	channel string // of the second prompt
	amid    bool   // a frame of the first turn comes among the frames that say that the second waits
	abort   string // "", or the side that stops the first turn
}

func (r twoPrompts) String() string {
	return fmt.Sprintf("%s/by %s here %v/in %q/amid %v/abort %q", r.at, r.by, r.here, r.channel, r.amid, r.abort)
}

// steps returns the frames of the first turn, by moment.
func (r twoPrompts) steps() [moments + 1][]string {
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

// waits returns the frames that say that the second prompt waits.
func (r twoPrompts) waits() (frames []string) {
	return []string{
		`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Two"}}}`,
		`{"type":"status","data":{"promptQueued":true,"queuePosition":1,"queueReason":"busy"}}`,
	}
}

// runs returns the frames of the second turn, from when the agent gets its prompt.
func (r twoPrompts) runs() (frames []string) {
	frames = append(frames, inChannel(userFrame("p2", "Two", r.by), r.channel), `{"type":"queue.state","data":{"pending":null}}`, `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`)
	if r.abort != "" {
		frames = append(frames, idle) // a late frame of the first turn
	}
	for _, f := range []string{thinking, streaming, startFrame("t2"), chunkFrame("t2", "two"), wholeFrame("t2", textPart("two"), finishPart("end_turn"))} {
		frames = append(frames, inChannel(f, r.channel))
	}
	return append(frames, notBusy)
}

// recording returns the frames of both turns as a browser sees them.
func (r twoPrompts) recording() []string {
	all := []string{toUs(initFrame), toUs(joined), fromUs(promptFrame("One"))}
	add := func(frames ...string) {
		for _, f := range frames {
			all = append(all, toUs(f))
		}
	}
	steps := r.steps()
	for m := range steps {
		add(steps[m]...)
		if moment(m) != r.at {
			continue
		}
		if r.here {
			all = append(all, fromUs(inChannel(promptFrame("Two"), r.channel)))
		}
		waits := r.waits()
		if r.amid {
			add(waits[0], steps[m+1][0])
			steps[m+1] = steps[m+1][1:]
			waits = waits[1:]
		}
		add(waits...)
		if r.abort == "" {
			continue
		}
		if r.abort == "here" {
			all = append(all, fromUs(`{"type":"abort"}`))
		}
		add(idle)
		if r.at >= empty {
			add(chunkFrame("t1", " late"))
		}
		add(idle)
		break
	}
	add(r.runs()...)
	return all
}

// want returns the summaries of the two turns.
func (r twoPrompts) want() []summary {
	first := summary{Asked: "One by u1", End: done}
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
	var all []summary
	if r.abort == "" || r.at > shown { // else the first turn sent no frame
		all = append(all, first)
	}
	return append(all, summary{Asked: "Two by " + r.by, Steps: []string{"t2"}, Text: []string{"two"}, End: done})
}

// A prompt that comes while a turn runs does not end that turn.
func TestE08_APromptDoesNotEndARunningTurn(t *testing.T) {
	t.Parallel()
	for at := range moments {
		for _, by := range []twoPrompts{{by: "u1", here: true}, {by: "u1"}, {by: "u2"}} {
			for _, channel := range []string{"", "thread:B", "slack:C"} {
				for _, abort := range []string{"", "here", "there"} {
					for _, amid := range []bool{false, true} {
						if amid && abort != "" {
							continue
						}
						r := twoPrompts{at, by.by, by.here, channel, amid, abort}
						t.Run(r.String(), func(t *testing.T) {
							recording := r.recording()
							if d := cmp.Diff(r.want(), summaries(playBack(t, recording))); d != "" {
								t.Errorf("(-want +got):\n%s\n%s", d, strings.Join(slices.Clone(recording), "\n"))
							}
						})
					}
				}
			}
		}
	}
}
