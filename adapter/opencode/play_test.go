package opencode_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// script is one turn of the fake server.
type script struct {
	f       *fake
	ctx     context.Context //nolint:containedctx // ends with an abort
	session string
	user    *fakeMessage
	now     *fakeMessage
}

// run plays what the words of the prompt ask for.
func (p *script) run(text string) {
	f := p.f
	f.mu.Lock()
	defer f.mu.Unlock()
	f.say("session.status", object{"sessionID": p.session, "status": object{"type": "busy"}})
	p.step()
	switch {
	case strings.HasPrefix(text, "long"):
		part := p.part(p.now, object{"type": "text", "text": ""})
		for i := 0; i < 1200 && p.ctx.Err() == nil; i++ {
			p.delta(part, fmt.Sprintf("word%d ", i))
			p.sleep(50 * time.Millisecond)
		}
		p.whole(part)
	case strings.HasPrefix(text, "approve"):
		if said := p.call("bash", object{"command": "touch x"}, p.permission); p.ctx.Err() == nil && said != "" {
			p.step()
			p.text("The tool said " + said)
		}
	case text == "ask":
		p.call("question", object{"questions": []object{}}, p.question)
		p.text("Thank you.")
	case text == "recall":
		var all []string
		for _, m := range f.sessions[p.session] {
			if m.Info["role"] == "user" {
				all = append(all, fmt.Sprint(m.Parts[0]["text"]))
			}
		}
		p.text(strings.Join(all, "; "))
	case text == "die":
		p.text("before the end")
		p.die()
	case text == "half a message":
		p.text("before the end")
		f.raw(`data: {"type":"message.part.delta","prop`)
		p.die()
	case text == "garbage":
		f.raw("no field at all\n\n: a comment\n\ndata: <html>\n\ndata: []\n\ndata: null\n\ndata: {\"type\":17}\n\ndata: {\"type\":\"from.the.future\"}\n\ndata: \xff\xfe{\n\n")
		p.text("still here")
	case text == "huge":
		f.raw(`data: {"type":"from.the.future","properties":{"x":"` + strings.Repeat("x", 50<<20) + `"}}` + "\n\n")
		p.text("that was long")
	case text == "rich":
		p.thought("I need a file.")
		p.text("I will touch a file.")
		p.call("bash", object{"command": "touch x"}, p.permission)
		p.step()
		p.text("Done.")
	case text == "gap", text == "cut in mid-event":
		part := p.part(p.now, object{"type": "text", "text": ""})
		p.delta(part, "one ")
		p.sleep(100 * time.Millisecond)
		if text != "gap" {
			f.raw(`data: {"type":"message.part.delta","prop`)
			p.sleep(20 * time.Millisecond)
		}
		f.mute = true
		for _, cut := range f.streams {
			cut()
		}
		p.delta(part, "two ")
		p.sleep(50 * time.Millisecond)
		f.mute = false
		p.sleep(500 * time.Millisecond)
		p.delta(part, "three")
		p.whole(part)
	case text == "only heartbeats":
		f.mute = true
		p.call("bash", object{"command": "touch x"}, p.permission)
		p.step()
		p.text("told to nobody")
	case text == "vanish":
		p.text("half")
		f.mute = true
		delete(f.busy, p.session)
		return
	default:
		p.text("Hello, you said: " + text)
	}
	p.end()
	f.mute = false
}

// step begins a message of the assistant, and ends the one before.
func (p *script) step() {
	p.complete("tool-calls")
	p.now = &fakeMessage{Info: object{"id": p.f.id("msg"), "role": "assistant", "sessionID": p.session, "parentID": p.user.Info["id"], "modelID": "m", "providerID": "p", "time": object{}}}
	p.f.sessions[p.session] = append(p.f.sessions[p.session], p.now)
	p.f.say("message.updated", object{"sessionID": p.session, "info": p.now.Info})
	p.part(p.now, object{"type": "step-start"})
}

func (p *script) complete(finish string) {
	if p.now == nil {
		return
	}
	p.part(p.now, object{"type": "step-finish", "reason": finish, "tokens": object{"input": 10, "output": 5, "cache": object{"read": 3}}})
	p.now.Info["finish"], p.now.Info["time"] = finish, object{"completed": 1}
	if p.ctx.Err() != nil {
		p.now.Info["error"] = object{"name": "MessageAbortedError", "data": object{"message": "Aborted"}}
	}
	p.f.say("message.updated", object{"sessionID": p.session, "info": p.now.Info})
}

// end says idle; after an abort twice, with what was left open in between.
func (p *script) end() {
	delete(p.f.busy, p.session)
	if p.ctx.Err() != nil {
		p.f.say("session.error", object{"sessionID": p.session, "error": object{"name": "MessageAbortedError"}})
		p.f.say("session.idle", object{"sessionID": p.session})
	}
	p.complete("stop")
	p.f.save(p.session)
	p.f.say("session.idle", object{"sessionID": p.session})
}

func (p *script) sleep(d time.Duration) {
	p.f.mu.Unlock()
	defer p.f.mu.Lock()
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
	}
}

// die ends the process when all events are written.
func (p *script) die() {
	p.f.mu.Unlock()
	p.f.unwritten.Wait()
	os.Exit(3)
}

// part adds a part to a message.
func (p *script) part(m *fakeMessage, part object) object {
	part["id"], part["messageID"], part["sessionID"] = p.f.id("prt"), m.Info["id"], p.session
	m.Parts = append(m.Parts, part)
	p.f.say("message.part.updated", object{"sessionID": p.session, "part": part})
	return part
}

// delta is more of a text. The list of messages has a text only when the text is whole.
func (p *script) delta(part object, text string) {
	part["so far"] = fmt.Sprint(part["so far"], text)
	p.f.say("message.part.delta", object{"sessionID": p.session, "messageID": part["messageID"], "partID": part["id"], "field": "text", "delta": text})
}

func (p *script) whole(part object) {
	part["text"], part["time"] = strings.TrimPrefix(fmt.Sprint(part["so far"]), "<nil>"), object{"end": 1}
	p.f.say("message.part.updated", object{"sessionID": p.session, "part": part})
}

func (p *script) text(text string) {
	part := p.part(p.now, object{"type": "text", "text": ""})
	p.delta(part, text)
	p.whole(part)
}

func (p *script) thought(text string) {
	part := p.part(p.now, object{"type": "reasoning", "text": ""})
	p.delta(part, text)
	p.whole(part)
}

// call plays a call of a tool and returns its output, or "" if the turn is over.
func (p *script) call(tool string, input object, ask func(callID string, input object) (ok bool, said string)) string {
	id := p.f.id("call")
	part := p.part(p.now, object{"type": "tool", "tool": tool, "callID": id, "state": object{"status": "pending", "input": object{}}})
	part["state"] = object{"status": "running", "input": input}
	p.f.say("message.part.updated", object{"sessionID": p.session, "part": part})
	ok, said := ask(id, input)
	state := object{"status": "completed", "input": input, "output": said, "metadata": object{}}
	if !ok {
		state = object{"status": "error", "input": input, "error": said, "metadata": object{"interrupted": p.ctx.Err() != nil}}
	}
	part["state"] = state
	p.f.say("message.part.updated", object{"sessionID": p.session, "part": part})
	return said
}

// wait puts a request or a question, and returns the answer.
func (p *script) wait(kind, callID string, r object) (object, bool) {
	id := p.f.id(kind[:3])
	r["id"], r["sessionID"], r["tool"] = id, p.session, object{"messageID": p.now.Info["id"], "callID": callID}
	c := make(chan object, 1)
	p.f.open[id], p.f.answers[id] = r, c
	p.f.say(kind+".asked", r)
	p.f.mu.Unlock()
	defer p.f.mu.Lock()
	select {
	case answer := <-c:
		return answer, true
	case <-p.ctx.Done():
		return nil, false
	}
}

func (p *script) permission(callID string, input object) (bool, string) {
	answer, ok := p.wait("permission", callID, object{"permission": "bash", "patterns": []string{"touch x"}, "always": []string{"touch *"}, "metadata": input})
	switch {
	case !ok:
		return false, "Tool execution aborted"
	case answer["reply"] == "reject":
		return false, fmt.Sprintf("The user rejected permission: %v", answer["message"])
	}
	return true, "touched"
}

func (p *script) question(callID string, _ object) (bool, string) {
	answer, ok := p.wait("question", callID, object{"questions": []object{{
		"question": "Which colour?", "header": "Colour", "options": []object{{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}},
	}}})
	if !ok || answer["answers"] == nil {
		return false, "dismissed"
	}
	return true, fmt.Sprint(answer["answers"])
}
