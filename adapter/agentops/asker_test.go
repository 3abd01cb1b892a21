package agentops

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// H27: whose answer a message of the history is. Of February's prompts those that were
// asked last may wait, and the answers come in the order of the prompts; today's are shown
// when it is their turn.
func TestH27_WhoseAnswerAMessageIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, era, history string // p is a prompt, t what is said, ! its end
		queued             int
		idle               bool
		want               string // of each prompt: what was said to it, and its phase
	}{
		{name: "one after the other", era: "feb", history: "p1 t1! p2 t2", want: "p1: t1, 6; p2: t2, 4"},
		{name: "asked before the first answer began", era: "feb", history: "p1 p2 t1! t2", want: "p1: t1, 6; p2: t2, 4"},
		{name: "asked in the middle of the first answer", era: "feb", history: "p1 t1 p2", queued: 1, want: "p1: t1, 4; p2: , 2"},
		{name: "asked before it, and waits", era: "feb", history: "p1 p2 t1", queued: 1, want: "p1: t1, 4; p2: , 2"},
		{name: "another model has taken over", era: "feb", history: "p1 t1 t2", want: "p1: t1 t2, 4; p2: , 6"},
		{name: "another model has taken over, and one waits", era: "feb", history: "p1 t1 p2 t2", queued: 1, want: "p1: t1 t2, 4; p2: , 2"},
		{name: "the first was stopped", era: "feb", history: "p1 t1 p2 t2", want: "p1: t1, 6; p2: t2, 4"},
		{name: "the second is at work and has said nothing", era: "feb", history: "p1 t1! p2", want: "p1: t1, 6; p2: , 3"},
		{name: "all is over", era: "feb", history: "p1 p2 t1! t2!", idle: true, want: "p1: t1, 6; p2: t2, 6"},
		{name: "one after the other", era: "head", history: "p1 t1! p2 t2", want: "p1: t1, 6; p2: t2, 4"},
		{name: "the first said nothing", era: "head", history: "p1 p2 t2", want: "p1: , 6; p2: t2, 4"},
		{name: "the first was stopped", era: "head", history: "p1 t1 p2 t2", want: "p1: t1, 6; p2: t2, 4"},
		{name: "nobody knows them", era: "head", history: "p8 t8 p9 t9", want: "p1: , 6; p2: , 6"},
	} {
		t.Run(c.era+" "+c.name, func(t *testing.T) {
			s := newDecoderStage(t, Options{User: "u1"})
			said := map[string][]string{}
			var mine []*prompt
			for _, id := range []string{"p1", "p2"} {
				p := &prompt{id: id, own: id == "p1", phase: sent, b: s.open(), left: true}
				s.d.keep(p)
				mine = append(mine, p)
			}
			var messages []string
			for word := range strings.FieldsSeq(c.history) {
				id, ended := strings.CutSuffix(word, "!")
				role, parts := "user", ""
				if id[0] == 't' {
					role, parts = "assistant", fmt.Sprintf(`{"type":"text","text":%q}`, id)
				}
				if ended {
					parts += `,{"type":"finish","reason":"end_turn"}`
				}
				messages = append(messages, fmt.Sprintf(`{"id":%q,"role":%q,"content":%q,"parts":[%s]}`, id, role, id, parts))
			}
			sign := map[string]string{"feb": `"auditLog":[]`, "head": `"pendingPrompt":null`}[c.era]
			s.take(fmt.Sprintf(`{"type":"init","session":{"id":"s","status":"running","messages":[%s]},"data":{"runnerBusy":%v,"promptsQueued":%d,%s}}`,
				strings.Join(messages, ","), !c.idle, c.queued, sign))
			var got []string
			for _, p := range mine {
				phase := s.d.phase(p.b)
				for _, e := range s.wrote(p.b) {
					if step, is := e.Payload.(trace.Step); is && step.NativeID != "" && !slices.Contains(said[p.id], step.NativeID) {
						said[p.id] = append(said[p.id], step.NativeID)
					}
				}
				got = append(got, fmt.Sprintf("%s: %s, %d", p.id, strings.Join(said[p.id], " "), phase))
			}
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
