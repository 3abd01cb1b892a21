package gateway

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the routes that list the requests that wait for a person.

// requestView is a waiting request in JSON.
type requestView struct {
	ID           string `json:"id"`
	Kind         string `json:"kind"`
	Session      string `json:"session"`
	SessionTitle string `json:"session_title"`
	Agent        string `json:"agent"`
	Turn         string `json:"turn"`
	MessageID    string `json:"message_id"`
	ToolCallID   string `json:"tool_call_id,omitempty"`
	// Tool is the name of the call's tool that people see, and ToolKind what the tool does.
	Tool     string         `json:"tool,omitempty"`
	ToolKind trace.ToolKind `json:"tool_kind,omitempty"`
	Title    string         `json:"title"`
	// Input is the whole input of the call.
	Input json.RawMessage `json:"input,omitempty"`
	// InputText is the same as a text, if a browser's JSON.parse would lose some of it.
	InputText string       `json:"input_text,omitempty"`
	Options   []optionView `json:"options,omitempty"`
	// Text, Choices and Multiple are those of a question.
	Text     string         `json:"text,omitempty"`
	Choices  []trace.Choice `json:"choices,omitempty"`
	Multiple bool           `json:"multiple,omitempty"`
	At       time.Time      `json:"at"`
	// MayAnswer says that the caller may answer, and MayOpen that they may see the session.
	MayAnswer   bool `json:"may_answer"`
	MayOpen     bool `json:"may_open"`
	TakesInput  bool `json:"takes_input"`
	TakesReason bool `json:"takes_reason"`
}

// optionView is an option of a permission request in JSON. Scope is how far the option reaches.
type optionView struct {
	ID    string           `json:"id"`
	Name  string           `json:"name"`
	Kind  trace.OptionKind `json:"kind"`
	Scope string           `json:"scope"`
}

// requests lists what waits for a person in all sessions that the caller may see, and the permission
// requests on which they may decide.
func (g *gateway) requests(w http.ResponseWriter, r *http.Request) error {
	var all []session.WaitingRequest
	if choice, some := g.authz.VisibleRequests(r.Context()); some {
		all = g.Hub.Waiting(choice)
	}
	return g.sendRequests(w, r, all)
}

// sessionRequests lists what waits for a person in one session.
func (g *gateway) sessionRequests(w http.ResponseWriter, r *http.Request) error {
	all, err := g.Hub.WaitingIn(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return g.sendRequests(w, r, all)
}

// sendRequests sends requests one after another: their inputs can be large.
// Of a session that the sender may not see, they get what they may decide on.
func (g *gateway) sendRequests(w http.ResponseWriter, r *http.Request, all []session.WaitingRequest) error {
	ctx := r.Context()
	all = slices.DeleteFunc(all, func(q session.WaitingRequest) bool {
		return !g.authz.Sees(ctx, q.Info) && !g.authz.MayAnswer(ctx, q.Info, q.Question())
	})
	w.Header().Set("Content-Type", "application/json")
	next := `{"requests":[`
	for _, q := range all {
		text, err := json.Marshal(g.requestView(r, q))
		if err != nil {
			g.abort(r, err)
		}
		if _, err := w.Write(append([]byte(next), text...)); err != nil {
			return nil //nolint:nilerr // the client has gone
		}
		next = ","
	}
	if len(all) > 0 {
		next = ""
	}
	_, _ = w.Write([]byte(next + "]}\n")) // its error says that the client has gone
	return nil
}

func (g *gateway) requestView(r *http.Request, q session.WaitingRequest) requestView {
	v := requestView{
		ID: q.ID, Kind: "question", Session: q.Info.ID, SessionTitle: q.Info.Title, Agent: q.Info.Agent, Turn: q.Turn, MessageID: q.MessageID,
		ToolCallID: q.ToolCallID(), Tool: q.Call.Name, ToolKind: q.Call.ToolKind, Input: q.Call.Input, InputText: quote.InputText(q.Call.Input), At: q.Opened.UTC(),
		MayAnswer: g.authz.MayAnswer(r.Context(), q.Info, q.Question()), MayOpen: g.authz.Sees(r.Context(), q.Info), TakesInput: q.TakesInput, TakesReason: q.TakesReason,
	}
	if p, is := q.Asked.(trace.PermissionRequest); is {
		v.Kind, v.Title = "permission", p.Title
		for i, o := range p.Options {
			v.Options = append(v.Options, optionView{o.ID, o.Name, o.OptionKind, q.Scopes[i]})
		}
	}
	if p, is := q.Asked.(trace.Question); is {
		v.Title, v.Text, v.Choices, v.Multiple = p.Header, p.Text, p.Choices, p.Multiple
	}
	return v
}
