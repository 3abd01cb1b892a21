package opencode_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// TestNoDeltaIsLost plays the events of an answer in orders that OpenCode does not promise: +X is a delta, =X the
// part so far, !X the whole part, "message" the message, "summary" one that sums up, "gap" a new event stream.
func TestNoDeltaIsLost(t *testing.T) {
	t.Parallel()
	flood := "+" + strings.Repeat(".", 70_000) + " "
	for order, want := range map[string]string{
		"message = +Hel +lo. !Hello.":                 "Hello.",
		"message +Hel = +lo. !Hello.":                 "Hello.",
		"message +Hel =Hel +lo. !Hello.":              "Hello.",
		"message +Hel +lo. = !Hello.":                 "Hello.",
		"message +Hello. =He !Hello.":                 "Hello.",
		"message +Hel =Hello +. !Hello.":              "Hello.",
		"message +o =Hel +lo. !Hello.":                "Hello.", // some were never told
		"message +Hel +lo. !Hello.":                   "Hello.",
		"message +Hel +lo.":                           "Hello.",
		"message +Hel = +lo.":                         "Hello.",
		"+Hel message = +lo. !Hello.":                 "Hello.",
		"+Hel = message +lo. !Hello.":                 "Hello.",
		"+Hel = message +lo.":                         "Hello.",
		"message +Hel gap +lo. !Hello.":               "Hello.",
		"message " + flood + "= +! !Hello.":           "Hello.",
		"message " + flood + "gap" + " = +! !Hello.":  "Hello.",
		"summary +Hel = +lo.":                         "",
		"summary +Hel +lo.":                           "",
		"message +Hel +lo. message = !Hello. message": "Hello.",
	} {
		for _, kind := range []string{"text", "reasoning"} {
			r := agenttest.NewRecorder()
			d, turn := opencode.NewDecoder(opencode.Options{}), agenttest.OneTurn(r.Builder)
			if _, err := d.Decode(agent.Message{Dir: agent.In, Data: []byte(`{"method":"POST","path":"/session/ses_1/prompt_async","body":{"parts":[{"type":"text","text":"go"}]}}`)}, turn); err != nil {
				t.Fatal(err)
			}
			say(t, d, turn, "message.updated", object{"info": object{"id": "msg_1", "role": "user"}})
			message := object{"id": "msg_2", "role": "assistant", "parentID": "msg_1", "time": object{}}
			known, typed := false, false // the message, and the type of its part
			for word := range strings.FieldsSeq(order) {
				part := object{"id": "prt_1", "messageID": "msg_2", "type": kind, "text": word[1:], "time": object{}}
				switch word[0] {
				case '+':
					say(t, d, turn, "message.part.delta", object{"messageID": "msg_2", "partID": "prt_1", "field": "text", "delta": word[1:]})
					continue
				case '!':
					part["time"] = object{"end": 2}
				case 'g':
					say(t, d, turn, "server.connected", object{})
					continue
				case 's':
					message["summary"] = true
					fallthrough
				case 'm':
					known = true
					say(t, d, turn, "message.updated", object{"info": message})
					continue
				}
				typed = known
				say(t, d, turn, "message.part.updated", object{"part": part})
			}
			message["time"] = object{"completed": 2}
			say(t, d, turn, "message.updated", object{"info": message})
			say(t, d, turn, "session.idle", object{})
			if stop, ended := r.Result(); !ended || r.Finish(stop) != nil {
				t.Fatalf("%.40s: the turn does not end", order)
			}
			got := strings.TrimSpace(agenttest.Said(r.Events()))
			if kind == "reasoning" && typed {
				got = ""
				for _, thought := range agenttest.Each[trace.Thought](r.Events()) {
					got += thought.Text
				}
			}
			if got != want {
				t.Errorf("%.40s as %s: %q, want %q", order, kind, got, want)
			}
		}
	}
}
