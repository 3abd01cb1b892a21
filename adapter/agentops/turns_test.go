package agentops_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"
)

// turn is a turn of the server's agent, as the runner plays it.
type turn struct {
	s            *server
	p            *prompt
	ctx          context.Context
	cancel       context.CancelFunc
	id           string
	parts        []object
	text         string // of the open text part
	all          string
	last         string // the text after the last tool
	begun        bool
	done         bool
	doneTooEarly bool // the server took its prompt for done too early
}

func (s *server) next(prefix string) string {
	s.n++
	return fmt.Sprintf("%s-%d", prefix, s.n)
}

// prompt takes a prompt as the session agent does.
func (s *server) prompt(p *prompt) {
	s.mu.Lock()
	p.id = s.next("prompt")
	if s.running == nil {
		t := s.begin(p)
		s.mu.Unlock()
		s.announce(p)
		s.runTurn(t)
		return
	}
	var withdrawn *prompt
	if len(s.queue) > 0 {
		withdrawn, s.queue = s.queue[0], nil
	}
	s.queue = append(s.queue, p)
	s.mu.Unlock()
	if withdrawn != nil {
		s.broadcast(object{"type": "queue.withdrawn", "data": object{"messageId": withdrawn.id, "content": withdrawn.content}})
	}
	s.broadcast(object{"type": "queue.state", "data": object{"pending": object{"messageId": p.id, "content": p.content, "threadId": orNil(p.thread)}}})
	s.broadcast(object{"type": "status", "data": object{"promptQueued": true, "queuePosition": 1, "queueReason": "busy"}})
}

// withdraw removes the prompt that waits.
func (s *server) withdraw() {
	s.mu.Lock()
	if len(s.queue) == 0 {
		s.mu.Unlock()
		return
	}
	p := s.queue[0]
	s.queue = nil
	s.mu.Unlock()
	s.broadcast(object{"type": "queue.withdrawn", "data": object{"messageId": p.id, "content": p.content}})
	s.broadcast(object{"type": "queue.state", "data": object{"pending": nil}})
}

// begin makes the turn of a prompt. The caller holds s.mu.
func (s *server) begin(p *prompt) *turn {
	t := &turn{s: s, p: p, id: s.next("turn")}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	s.running = t
	return t
}

// announce shows the user's message.
func (s *server) announce(p *prompt) {
	m := object{"id": p.id, "role": "user", "content": p.content, "authorId": p.by.id, "authorName": p.by.name, "createdAt": time.Now().Unix()}
	p.mark(m)
	s.mu.Lock()
	s.history = append(s.history, m)
	s.mu.Unlock()
	s.broadcast(object{"type": "message", "data": m})
}

// mark writes the channel into a frame.
func (p *prompt) mark(f object) object {
	if p.chType != "" {
		f["channelType"], f["channelId"] = p.chType, p.chID
	}
	if p.thread != "" {
		f["threadId"] = p.thread
	}
	return f
}

// runTurn runs the turn's script, then the next prompt.
func (s *server) runTurn(t *turn) {
	s.mu.Lock()
	script := s.script
	s.mu.Unlock()
	if script == nil {
		script = usual
	}
	s.plays.Go(func() {
		t.status("thinking", "")
		script(t)
		s.mu.Lock()
		aborted := t.ctx.Err() != nil
		s.mu.Unlock()
		if aborted {
			t.status("idle", "")
		}
		t.cancel()
		s.runNext(t)
		if aborted && s.era == agentOpsServer {
			s.sendSecondEnd()
		}
	})
}

// secondEndDelay is the time between the two ends that a stopped runner sends.
const secondEndDelay = 100 * time.Millisecond

// sendSecondEnd handles the second end of a stopped turn. The server takes this end for the end of the turn
// that runs by then, and shows no status and no request of that turn from then on.
func (s *server) sendSecondEnd() {
	time.Sleep(secondEndDelay)
	s.mu.Lock()
	if t := s.running; t != nil {
		t.doneTooEarly = true
	}
	s.mu.Unlock()
	s.broadcast(object{"type": "agentStatus", "status": "idle"})
	s.broadcast(object{"type": "status", "data": object{"runnerBusy": false}})
}

// runNext gives the next prompt to the agent.
func (s *server) runNext(t *turn) {
	s.mu.Lock()
	if s.running != t {
		s.mu.Unlock()
		return
	}
	s.running = nil
	if len(s.queue) == 0 || s.status != "running" { // before the next prompt can come
		s.broadcastLocked(object{"type": "status", "data": object{"runnerBusy": false}})
		s.mu.Unlock()
		return
	}
	p := s.queue[0]
	s.queue = s.queue[1:]
	next := s.begin(p)
	left := len(s.queue)
	s.mu.Unlock()
	s.announce(p)
	s.broadcast(object{"type": "queue.state", "data": object{"pending": nil}})
	s.broadcast(object{"type": "status", "data": object{"promptDequeued": true, "remaining": left}})
	s.runTurn(next)
}

// abort stops the whole session.
func (s *server) abort() {
	s.mu.Lock()
	t := s.running
	for id := range s.requests {
		delete(s.requests, id)
	}
	noRunner := s.noRunner
	s.mu.Unlock()
	if t == nil || noRunner {
		s.broadcast(object{"type": "agentStatus", "status": "idle"})
		return
	}
	t.status("idle", "")
	t.cancel()
}

func (s *server) stopTurn() {
	s.mu.Lock()
	s.queue = nil
	t := s.running
	s.mu.Unlock()
	if t != nil {
		t.cancel()
	}
}

// reachesClients reports whether a status or a request of the turn reaches clients. Agent Ops drops these
// frames if the prompt has no channel.
func (t *turn) reachesClients() bool {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.s.era == gatewayServer || !t.doneTooEarly && (t.p.chType != "" || t.p.thread != "")
}

func (t *turn) status(status, detail string) {
	if !t.reachesClients() {
		return
	}
	f := object{"type": "agentStatus", "status": status}
	if detail != "" {
		f["detail"] = detail
	}
	if t.p.chType != "" {
		f["channelType"], f["channelId"] = t.p.chType, t.p.chID
	}
	t.s.broadcast(f)
}

// start is the empty assistant message.
func (t *turn) start() {
	if t.begun {
		return
	}
	t.status("streaming", "")
	m := t.p.mark(object{"id": t.id, "role": "assistant", "content": "", "parts": []object{}, "createdAt": time.Now().Unix()})
	t.s.mu.Lock()
	t.begun = true
	t.s.history = append(t.s.history, m)
	t.s.mu.Unlock()
	t.s.broadcast(object{"type": "message", "data": m})
}

// say streams text until the turn is aborted.
func (t *turn) say(pieces ...string) {
	t.start()
	for _, piece := range pieces {
		if t.ctx.Err() != nil {
			return
		}
		t.sayLate(piece)
	}
}

// sayLate streams text, also after an abort.
func (t *turn) sayLate(piece string) {
	t.text += piece
	t.all += piece
	t.last += piece
	f := object{"type": "chunk", "content": piece, "messageId": t.id}
	if t.p.chType != "" {
		f["channelType"], f["channelId"] = t.p.chType, t.p.chID
	}
	t.s.broadcast(f)
}

// close ends the open text part.
func (t *turn) close() {
	if t.text == "" {
		return
	}
	t.parts = append(t.parts, object{"type": "text", "text": t.text, "streaming": false})
	t.text = ""
}

// tool sends the state of a call.
func (t *turn) tool(id, name, status string, args any, result any) {
	t.start()
	t.close()
	t.last = ""
	t.status("tool_calling", name)
	part := object{"type": "tool-call", "callId": id, "toolName": name, "status": status, "args": args}
	if result != nil {
		part["result"] = result
	}
	for i, p := range t.parts {
		if p["callId"] == id {
			t.parts[i] = part
			t.updated()
			return
		}
	}
	t.parts = append(t.parts, part)
	t.updated()
}

// message is the whole message so far.
func (t *turn) message() object {
	parts := []object{}
	for _, p := range t.parts {
		parts = append(parts, maps.Clone(p))
	}
	return t.p.mark(object{"id": t.id, "role": "assistant", "content": t.content(), "parts": parts, "createdAt": time.Now().Unix()})
}

func (t *turn) content() string {
	if t.last != "" {
		return t.last
	}
	return t.all
}

// store stores the message so far in the history.
func (t *turn) store() object {
	m := t.message()
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	for i, h := range t.s.history {
		if h["id"] == t.id {
			m["createdAt"] = h["createdAt"]
			t.s.history[i] = m
		}
	}
	return m
}

func (t *turn) updated() { t.s.broadcast(object{"type": "message.updated", "data": t.store()}) }

// finish ends the turn.
func (t *turn) finish(reason, failure string) {
	if t.ctx.Err() != nil || t.done {
		return
	}
	t.done = true
	t.start()
	t.close()
	end := object{"type": "finish", "reason": reason}
	bad := object{"type": "error", "message": failure}
	switch {
	case failure == "":
		t.parts = append(t.parts, end)
	default:
		t.parts = append(t.parts, bad, end)
	}
	t.updated()
}

// fail is the error frame of a runner.
func (t *turn) fail(text string) {
	if t.reachesClients() {
		f := object{"type": "error", "messageId": t.p.id, "error": text}
		if t.p.chType != "" {
			f["channelType"], f["channelId"] = t.p.chType, t.p.chID
		}
		t.s.broadcast(f)
	}
	t.done = true
}

// ask asks a question and waits for the answer; "" if the turn was aborted.
func (t *turn) ask(id, text string, options ...string) string {
	t.start()
	actions := []object{}
	for i, o := range options {
		actions = append(actions, object{"id": fmt.Sprintf("option_%d", i), "label": o})
	}
	return t.wait(id, "question", object{"type": "interactive_prompt", "prompt": object{
		"id": id, "sessionId": t.s.id, "type": "question", "title": text, "actions": actions, "expiresAt": time.Now().Add(5 * time.Minute).UnixMilli(),
		"context": t.p.mark(object{}),
	}})
}

// approval asks whether a call may run.
func (t *turn) approval(id, tool, title string, params any) string {
	return t.wait(id, "approval", object{"type": "interactive_prompt", "prompt": object{
		"id": id, "sessionId": t.s.id, "type": "approval", "title": "Action requires approval", "body": title,
		"actions":   []object{{"id": "approve", "label": "Approve", "style": "primary"}, {"id": "deny", "label": "Deny", "style": "danger"}},
		"expiresAt": time.Now().Add(10 * time.Minute).UnixMilli(),
		"context":   t.p.mark(object{"toolId": tool, "params": params, "invocationId": id, "riskLevel": "medium"}),
	}})
}

func (t *turn) wait(id, kind string, frame object) string {
	if t.p.chType != "" {
		frame["channelType"], frame["channelId"] = t.p.chType, t.p.chID
	}
	a := &openRequest{id: id, kind: kind, frame: frame, answer: make(chan string, 1)}
	t.s.mu.Lock()
	t.s.requests[id] = a
	t.s.mu.Unlock()
	if t.reachesClients() {
		t.s.broadcast(frame)
	}
	select {
	case answer := <-a.answer:
		return answer
	case <-t.ctx.Done():
		return ""
	}
}

// usual is the agent's default script.
func usual(t *turn) {
	text := t.p.content
	switch {
	case strings.HasPrefix(text, "slow"):
		t.say("well")
		t.pause(30 * time.Second)
		t.say(", at last")
	case strings.HasPrefix(text, "permission"):
		t.say("I would like to mail.")
		args := object{"tool_id": "gmail:send", "params": object{"to": "ana@example.com"}}
		t.tool("call-"+t.id, "call_tool", "running", args, nil)
		answer := t.approval("inv-"+t.id, "gmail:send", "Send the notes", args["params"])
		switch answer {
		case "approve":
			t.tool("call-"+t.id, "call_tool", "completed", args, `{"success":true}`)
			t.say("Sent.")
		case "":
			return
		default:
			t.s.deny(t, args)
			t.say("I did not send it.")
		}
	case strings.HasPrefix(text, "question"):
		t.say("Before I go on:")
		answer := t.ask("que-"+t.id, "Which colour?", "red", "green")
		if answer == "" {
			return
		}
		t.say("You chose " + answer + ".")
	case strings.HasPrefix(text, "tell"):
		t.s.mu.Lock()
		t.s.remembered = text
		t.s.mu.Unlock()
		t.say("I will remember.")
	case strings.HasPrefix(text, "recall"):
		t.s.mu.Lock()
		remembered := t.s.remembered
		t.s.mu.Unlock()
		t.say("I was told: ", remembered)
	case strings.HasPrefix(text, "tool"):
		t.say("Let me look.")
		t.tool("prt-"+t.id, "read", "pending", object{}, nil)
		t.tool("prt-"+t.id, "read", "running", object{"filePath": "/workspace/a"}, nil)
		t.tool("prt-"+t.id, "read", "completed", object{"filePath": "/workspace/a"}, "hello")
		t.say("It says ", "hello.")
	case strings.HasPrefix(text, "fail"):
		t.say("Hm.")
		t.fail("the model is overloaded")
		return
	default:
		t.say("You said: ", text)
	}
	t.finish("end_turn", "")
}

// deny ends a call that may not run.
func (s *server) deny(t *turn, args any) {
	for i, p := range t.parts {
		if p["toolName"] == "call_tool" {
			t.parts[i] = object{"type": "tool-call", "callId": p["callId"], "toolName": "call_tool", "status": "completed", "args": args, "result": "Tool call failed: the action was denied by a reviewer"}
		}
	}
	t.updated()
}

// pause waits, unless the turn is aborted.
func (t *turn) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.ctx.Done():
	}
}
