package agentops

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// domainKind is a kind of domain event.
type domainKind struct {
	name      string
	transient bool
	id        string // the field that tells one event from another; events without replace each other
}

// domainKinds are the frames that are no part of the conversation.
func domainKinds(frame string) (domainKind, bool) {
	w, ok := map[string]domainKind{
		"status":                    {name: "session-status", transient: true},
		"queue.state":               {name: "queue", transient: true},
		"queue.withdrawn":           {name: "queue", transient: true},
		"git-state":                 {name: "git-state"},
		"pr-created":                {name: "pull-request"},
		"files-changed":             {name: "files-changed"},
		"diff":                      {name: "diff", id: "requestId"},
		"review-result":             {name: "review-result", id: "requestId"},
		"child-session":             {name: "child-session", id: "childSessionId"},
		"title":                     {name: "title"},
		"thread.updated":            {name: "title", id: "threadId"},
		"model-switched":            {name: "model-switched", id: "messageId"},
		"audit_log":                 {name: "audit-log", transient: true},
		"user.joined":               {name: "presence", transient: true},
		"user.left":                 {name: "presence", transient: true},
		"toast":                     {name: "toast", transient: true},
		"integration-auth-required": {name: "auth-required"},
		"messages.removed":          {name: "messages-removed", transient: true},
		"reverted":                  {name: "messages-removed", transient: true},
	}[frame]
	return w, ok
}

// largestValue bounds a domain event in bytes.
const largestValue = 1 << 20

// domain takes a frame that is no part of the conversation. Outside a turn only the kinds that
// last are kept.
func (d *Decoder) domain(f wire.Frame, frame json.RawMessage, to agent.Turns) {
	w, ok := domainKinds(f.Type())
	if !ok {
		return
	}
	value, fields := valueOf(frame)
	text := func(name string) (s string) {
		if json.Unmarshal(fields[name], &s) != nil {
			return ""
		}
		return s
	}
	data := trace.Data{Name: w.name, Value: value, Transient: w.transient, Domain: true}
	if !w.transient {
		data.ID = w.name
	}
	if id := text(w.id); id != "" && len(id) <= longestID {
		data.ID = w.name + "-" + id
	}
	t := d.about("", wire.Channel{ChannelType: text("channelType"), ChannelID: text("channelId")})
	title, isTitle := f.(wire.Title)
	switch {
	case isTitle:
		data.Value = agentkit.Encode(title.Title)
		to.Note(data)
	case t != nil:
		t.b.EmitOwn(data)
	case !w.transient:
		to.Note(data)
	}
}

// valueOf is the content of a frame: its fields, or those in its data if it has no other.
func valueOf(frame json.RawMessage) (value json.RawMessage, fields map[string]json.RawMessage) {
	if len(frame) > largestValue {
		return json.RawMessage(`{"omitted":true}`), nil
	}
	if json.Unmarshal(frame, &fields) != nil {
		return json.RawMessage("null"), nil
	}
	delete(fields, "type")
	if inner, ok := fields["data"]; ok && len(fields) == 1 {
		return inner, fields
	}
	return agentkit.Encode(fields), fields
}

// picture is a screenshot as a file. Its data is base64, or a data URL.
func picture(p wire.Part) trace.File {
	media := p.MIMEType
	if head, isURL := strings.CutPrefix(p.Data, "data:"); isURL && media == "" {
		media = head[:strings.IndexAny(head+",", ";,")]
	}
	if media == "" {
		start, _ := base64.StdEncoding.DecodeString(p.Data[:min(len(p.Data), 64)/4*4]) // what can be decoded tells the type
		media = http.DetectContentType(start)
	}
	return trace.File{URL: dataURL(media, p.Data), MediaType: media, Filename: p.Filename}
}

// dataURL makes a data URL of base64, unless it is one.
func dataURL(media, data string) string {
	if strings.HasPrefix(data, "data:") {
		return data
	}
	return "data:" + media + ";base64," + data
}
