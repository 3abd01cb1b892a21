package gateway

import (
	"encoding/json"
	"io"
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
	return g.sendRequests(w, r, all, g.Cluster.Ask(r))
}

// sessionRequests lists what waits for a person in one session.
func (g *gateway) sessionRequests(w http.ResponseWriter, r *http.Request) error {
	all, err := g.Hub.WaitingIn(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return g.sendRequests(w, r, all, nil)
}

// sendRequests sends requests one after another: their inputs can be large.
// Of a session that the sender may not see, they get what they may decide on. Other gateways have answered the same
// request.
func (g *gateway) sendRequests(w http.ResponseWriter, r *http.Request, all []session.WaitingRequest, others [][]byte) error {
	ctx := r.Context()
	all = slices.DeleteFunc(all, func(q session.WaitingRequest) bool {
		return !g.authz.Sees(ctx, q.Info) && !g.authz.MayAnswer(ctx, q.Info, q.Question())
	})
	w.Header().Set("Content-Type", "application/json")
	list := requestList{w: w, next: `{"requests":[`}
	for _, q := range all {
		text, err := json.Marshal(g.requestView(r, q))
		if err != nil {
			g.abort(r, err)
		}
		list.add(text)
	}
	for _, answer := range others {
		var there struct{ Requests []json.RawMessage }
		if err := json.Unmarshal(answer, &there); err != nil {
			g.Logger.Warn("the requests that wait at another gateway cannot be read", "error", err)
		}
		for _, text := range there.Requests {
			list.add(text)
		}
	}
	list.end()
	return nil
}

// requestList writes requests in JSON. A client that has gone gets nothing more.
type requestList struct {
	w    io.Writer
	next string // what stands before the next one
	gone bool
}

func (l *requestList) add(request []byte) {
	if !l.gone {
		_, err := l.w.Write(append([]byte(l.next), request...))
		l.next, l.gone = ",", err != nil
	}
}

func (l *requestList) end() {
	if l.next != "," {
		_, _ = io.WriteString(l.w, l.next) // its error says that the client has gone
	}
	_, _ = io.WriteString(l.w, "]}\n") // as above
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
