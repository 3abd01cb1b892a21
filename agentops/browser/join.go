package browser

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// Presence is who looks at a session.
type Presence struct {
	Clients int
	Users   []agentops.User
}

// Join returns what somebody gets who comes now: init, and then of each turn that is
// not over its messages as they stand and what it asks. history goes into February's
// init.
func (t *Translator) Join(p Presence, history []agentops.Message) []agentops.Frame {
	t.out = nil
	init := agentops.Init{
		Session: agentops.SessionInfo{ID: t.Session, Status: agentops.SessionRunning, Workspace: t.Workspace, Title: t.title},
		Data: agentops.InitData{
			SandboxRunning: true, RunnerConnected: !t.away, RunnerBusy: t.busy(), PromptsQueued: len(t.waiting()),
			ConnectedClients: p.Clients, ConnectedUsers: p.Users,
		},
	}
	switch t.Era {
	case agentops.Feb:
		init.Session.Messages = append([]agentops.Message{}, history...)
		init.Data.AuditLog = json.RawMessage("[]")
		t.send(init)
	case agentops.March:
		t.send(light{init.Session, lightOf(init.Data)})
	default:
		t.send(light{init.Session, headData{lightOf(init.Data), t.next()}})
	}
	for _, u := range t.turns {
		t.resume(u)
	}
	return t.out
}

// light is init since March: users are ids, and the history is to be asked for.
type light struct {
	Session agentops.SessionInfo `json:"session"`
	Data    any                  `json:"data"`
}

// Type implements agentops.Frame.
func (light) Type() string { return agentops.Init{}.Type() }

type lightData struct {
	agentops.InitData
	ConnectedUsers []string `json:"connectedUsers"`
}

// headData tells also that no prompt waits: by that field the times are told apart.
type headData struct {
	lightData
	PendingPrompt *agentops.PendingPrompt `json:"pendingPrompt"`
}

func lightOf(d agentops.InitData) lightData {
	l := lightData{InitData: d, ConnectedUsers: []string{}}
	for _, u := range d.ConnectedUsers {
		l.ConnectedUsers = append(l.ConnectedUsers, u.ID)
	}
	return l
}

// resume tells how a turn stands. Browsers know messages by their ids, so that one
// which they have is not there twice.
func (t *Translator) resume(u *turn) {
	if u.prompt != nil && (!u.queued || t.february()) {
		t.send(agentops.MessageAdded{Data: *u.prompt})
	}
	if u.message != nil {
		t.begin(u)
		if len(u.message.parts) > 0 {
			t.update(u)
		}
		t.send(u.status)
	}
	for _, a := range u.asks {
		until := a.ExpiresAt
		if t.february() && a.Type == agentops.AskQuestion {
			until = 0 // February repeats a question without its time
		}
		t.sendAsk(u, a, until)
	}
}

// Transcript returns the messages that whole records make, the newest of them that
// take up no more than most bytes.
func Transcript(records iter.Seq2[trace.Record, error], o Options, most int) ([]agentops.Message, error) {
	t := New(o)
	var all []agentops.Message
	at := map[string]int{}
	size := 0 // of what came since the last look at what is too old
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		for _, f := range t.Next(r) {
			switch f := f.(type) {
			case agentops.MessageAdded:
				at[f.Data.ID] = len(all)
				all = append(all, f.Data)
				size += weight(f.Data)
			case agentops.MessageUpdated:
				if i, ok := at[f.Data.ID]; ok {
					all[i].Content, all[i].Parts = f.Data.Content, f.Data.Parts
					size += weight(f.Data)
				}
			}
		}
		if size > most {
			all = newest(all, most)
			clear(at)
			for i, m := range all {
				at[m.ID] = i
			}
			size = 0
		}
	}
	return newest(all, most), nil
}

// newest are the newest messages that take up no more than most bytes, in a list of
// their own.
func newest(all []agentops.Message, most int) []agentops.Message {
	first := len(all)
	for room := most; first > 0; first-- {
		if room -= weight(all[first-1]); room < 0 {
			break
		}
	}
	return slices.Clone(all[first:])
}

// weight is about what a message takes up in a frame.
func weight(m agentops.Message) int {
	const frame = 200
	n := frame + len(m.Content)
	for _, p := range m.Parts {
		n += frame + len(p.Text) + len(p.Args) + len(p.Result) + len(p.Error) + len(p.Data)
	}
	return n
}
