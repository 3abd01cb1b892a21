package agentops

import "github.com/tributary-dev/tributary/adapter/agentops/wire"

// Presence is who looks at a session.
type Presence struct {
	Clients int
	Users   []wire.User
}

// Join returns the first frames of a browser: init, and then, of each open turn, its
// messages so far and its open requests.
func (t *Translator) Join(p Presence) []wire.Frame {
	t.out = nil
	t.send(newInit(wire.SessionInfo{ID: t.Session, Status: wire.SessionRunning, Workspace: t.Workspace, Title: t.Title}, wire.InitData{
		SandboxRunning: true, RunnerConnected: new(!t.away), RunnerBusy: t.busy(), PromptsQueued: len(t.waiting()),
		ConnectedClients: p.Clients, ConnectedUsers: p.Users, PendingPrompt: t.next(),
	}))
	for _, u := range t.turns {
		t.resume(u)
	}
	return t.out
}

// initFrame is today's init. Users are ids, and the history is not part of the frame.
type initFrame struct {
	Session wire.SessionInfo `json:"session"`
	Data    initData         `json:"data"`
}

// Type implements agentops.Frame.
func (initFrame) Type() string { return wire.Init{}.Type() }

// initData has the field of the prompt that waits even if none does: clients know today's
// servers by that field.
type initData struct {
	wire.InitData
	ConnectedUsers []string            `json:"connectedUsers"`
	PendingPrompt  *wire.PendingPrompt `json:"pendingPrompt"`
}

func newInit(s wire.SessionInfo, d wire.InitData) initFrame {
	ids := make([]string, len(d.ConnectedUsers))
	for i, u := range d.ConnectedUsers {
		ids[i] = u.ID
	}
	return initFrame{s, initData{d, ids, d.PendingPrompt}}
}

// resume sends the state of a turn. Browsers know messages by their ids, so a browser that
// has a message already shows it once.
func (t *Translator) resume(u *turn) {
	if u.prompt != nil && !u.queued {
		t.send(wire.MessageAdded{Data: *u.prompt})
	}
	if u.message != nil {
		t.begin(u)
		if len(u.message.parts) > 0 {
			t.update(u)
		}
		t.send(u.status)
	}
	for _, a := range u.asks {
		t.send(wire.InteractivePrompt{Prompt: a, Channel: u.channel})
	}
}
