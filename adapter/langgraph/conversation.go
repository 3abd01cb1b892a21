package langgraph

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// talk is what the Decoder knows of a conversation of several participants, in the events
// of Conversaition: those of its graph, or those of its server.
type talk struct {
	begun    bool
	speeches int
	speaking map[string]*speech // by participant
	last     []byte             // the newest frame
	copies   int                // how often it has come
	factor   int                // how often every frame comes
}

// conversation takes an event {type, data}. The server of Conversaition sends each event
// once for every conversation that its process has had.
func (d *Decoder) conversation(kind string, data raw) {
	kind = strings.ReplaceAll(kind, "_", "-")
	begins := kind == "conversation-start"
	if begins && !d.talk.begun {
		d.allowNextTurn()
	}
	t := d.begin()
	if t == nil || d.talk.repeats(kind, data) {
		return
	}
	d.talk.begun = d.talk.begun || begins
	u := objectOf(data)
	who := u.text("participant")
	switch kind {
	case "speaker-scheduled", "speaker-change":
		t.b.Emit(trace.Data{Name: "speaker", Value: agentkit.Encode(map[string]string{"participant": u.text("next_speaker", "participant")}), Transient: true})
	case "text-start", "ai-response-start":
		d.endSpeech(who)
		d.speechOf(who)
	case "text-delta", "ai-response-stream":
		if s := d.speechOf(who); u.text("full_content") != "" {
			t.whole(s, textMessage(u.text("full_content")))
		} else {
			t.add(s, textMessage(u.text("textDelta", "content")).content[0])
		}
	case "text-done", "ai-response-complete":
		t.whole(d.speechOf(who), textMessage(u.text("content")))
		d.endSpeech(who)
	case "user-message", "human-message-added":
		m := textMessage(u.text("content"))
		m.id, m.name = fmt.Sprintf("user-%d", len(t.known)+1), who
		t.person(m, place{})
	case "ai-response-error", "error":
		t.b.Emit(trace.Error{Code: "speaker_failed", Message: cmp.Or(who+": ", "") + cmp.Or(u.text("error", "message"), "the answer failed")})
		d.endSpeech(who)
	case "conversation-end":
		d.end("", "")
	case "conversation-start", "conversation-status", "turn-complete", "thinking-start", "ai-thinking-start":
		t.b.Emit(trace.Data{Name: strings.TrimPrefix(kind, "ai-"), Value: trace.CompactJSON(data), Transient: true})
	case "conversation-event":
		d.foreignEvent(cmp.Or(u.text("eventType"), "unknown"), who, u["data"])
	default:
		d.foreignEvent(cmp.Or(kind, "unknown"), who, data)
	}
}

// repeats reports whether a frame is a copy of the one before. The events that cannot come
// twice in a row tell how many copies there are.
func (k *talk) repeats(kind string, data raw) bool {
	frame := append([]byte(kind), data...)
	if !bytes.Equal(frame, k.last) {
		k.last, k.copies = frame, 1
		return false
	}
	k.copies++
	if single := strings.HasSuffix(kind, "-start") || strings.HasSuffix(kind, "-scheduled") || kind == "speaker-change"; single {
		k.factor = max(k.factor, k.copies)
	}
	return k.factor > 1 && (k.copies-1)%k.factor != 0
}

// speechOf returns the speech of a participant, or begins one.
func (d *Decoder) speechOf(who string) *speech {
	k := &d.talk
	if k.speaking[who] == nil {
		k.speeches++
		k.speaking[who] = d.turn.speech(fmt.Sprintf("speech-%d", k.speeches), who, place{node: who})
	}
	return k.speaking[who]
}

// endSpeech ends the speech of a participant.
func (d *Decoder) endSpeech(who string) {
	if s := d.talk.speaking[who]; s != nil {
		d.turn.end(s)
		delete(d.talk.speaking, who)
	}
}

func textMessage(text string) message { return message{content: []block{{kind: words, text: text}}} }
