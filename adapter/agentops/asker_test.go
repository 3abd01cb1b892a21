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
		name, history string // p is a prompt, t what is said, ! its end
		want          string // of each prompt: what was said to it, and its phase
	}{
		{name: "one after the other", history: "p1 t1! p2 t2", want: "p1: t1, 6; p2: t2, 4"},
		{name: "the first said nothing", history: "p1 p2 t2", want: "p1: , 6; p2: t2, 4"},
		{name: "the first was stopped", history: "p1 t1 p2 t2", want: "p1: t1, 6; p2: t2, 4"},
		{name: "nobody knows them", history: "p8 t8 p9 t9", want: "p1: , 6; p2: , 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
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
			s.take(fmt.Sprintf(`{"type":"init","session":{"id":"s","status":"running","messages":[%s]},"data":{"runnerBusy":true,"pendingPrompt":null}}`, strings.Join(messages, ",")))
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
