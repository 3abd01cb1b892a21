package agentops

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	wire "github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// world is how an event of the agent's world is told.
type world struct {
	name string
	// passing is what is of interest only while it lasts, and only to whoever follows.
	passing bool
	// id is the field that tells one from another; those without replace each other.
	id string
}

// worlds are the frames that are no part of the conversation.
func worlds(frame string) (world, bool) {
	w, ok := map[string]world{
		"status":                    {name: "session-status", passing: true},
		"queue.state":               {name: "queue", passing: true},
		"queue.withdrawn":           {name: "queue", passing: true},
		"git-state":                 {name: "git-state"},
		"pr-created":                {name: "pull-request"},
		"files-changed":             {name: "files-changed"},
		"diff":                      {name: "diff", id: "requestId"},
		"review-result":             {name: "review-result", id: "requestId"},
		"child-session":             {name: "child-session", id: "childSessionId"},
		"title":                     {name: "title"},
		"thread.updated":            {name: "title", id: "threadId"},
		"model-switched":            {name: "model-switched", id: "messageId"},
		"audit_log":                 {name: "audit-log", passing: true},
		"user.joined":               {name: "presence", passing: true},
		"user.left":                 {name: "presence", passing: true},
		"toast":                     {name: "toast", passing: true},
		"integration-auth-required": {name: "auth-required"},
		"messages.removed":          {name: "messages-removed", passing: true},
		"reverted":                  {name: "messages-removed", passing: true},
	}[frame]
	return w, ok
}

// largestValue bounds what is kept of such an event.
const largestValue = 1 << 20

// domain takes what is no part of the conversation. Outside a turn only what lasts is
// kept.
func (d *Decoder) domain(f wire.Frame, frame json.RawMessage, t agent.Turns) {
	w, ok := worlds(f.Type())
	if !ok {
		return
	}
	value, fields := valueOf(frame)
	data := trace.Data{Name: w.name, Value: value, Transient: w.passing, Domain: true}
	if !w.passing {
		data.ID = w.name
	}
	if id := fields.text(w.id); id != "" && len(id) <= longestID {
		data.ID = w.name + "-" + id
	}
	if title, is := f.(wire.Title); is {
		if value, err := json.Marshal(title.Title); err == nil {
			t.Note(trace.Data{Name: w.name, ID: w.name, Value: value, Domain: true})
		}
		return
	}
	r := d.runOf("", fields.channel())
	switch {
	case r != nil:
		r.b.Emit(data)
	case !w.passing:
		t.Note(data)
	}
}

type fieldsOf map[string]json.RawMessage

func (f fieldsOf) text(name string) string {
	var s string
	if json.Unmarshal(f[name], &s) != nil {
		return ""
	}
	return s
}

func (f fieldsOf) channel() wire.Channel {
	return wire.Channel{ChannelType: f.text("channelType"), ChannelID: f.text("channelId")}
}

// valueOf is what a frame says: its fields, or those in its data where it has no
// other.
func valueOf(frame json.RawMessage) (json.RawMessage, fieldsOf) {
	if len(frame) > largestValue {
		return json.RawMessage(`{"omitted":true}`), nil
	}
	var fields fieldsOf
	if json.Unmarshal(frame, &fields) != nil {
		return json.RawMessage("null"), nil
	}
	delete(fields, "type")
	if inner, ok := fields["data"]; ok && len(fields) == 1 {
		return inner, fields
	}
	value, err := json.Marshal(fields)
	if err != nil {
		return json.RawMessage("null"), nil
	}
	return value, fields
}

// system takes a note of the session agent, such as a picture that the agent took.
func (d *Decoder) system(m wire.Message, t agent.Turns) {
	r := d.active(m.Channel.Name(m.ThreadID))
	for _, p := range m.Parts {
		d.screenshot(p, r, t)
	}
}

// screenshot takes a picture.
func (d *Decoder) screenshot(p wire.Part, r *run, t agent.Turns) {
	if p.Data == "" || p.Type != wire.PartScreenshot && p.Type != wire.PartImage {
		return
	}
	media := p.MIMEType
	if media == "" {
		media = pictureType(p.Data)
	}
	f := trace.File{URL: dataURL(media, p.Data), MediaType: media, Filename: p.Filename}
	d.emit(r, f, t)
}

// dataURL makes a data URL of base64, unless it is one.
func dataURL(media, data string) string {
	if strings.HasPrefix(data, "data:") {
		return data
	}
	return "data:" + media + ";base64," + data
}

// pictureType tells what a picture is by how its base64 begins, or its URL says.
func pictureType(data string) string {
	if rest, ok := strings.CutPrefix(data, "data:"); ok {
		media, _, _ := strings.Cut(rest, ";")
		media, _, _ = strings.Cut(media, ",")
		return media
	}
	switch {
	case strings.HasPrefix(data, "/9j/"):
		return "image/jpeg"
	case strings.HasPrefix(data, "R0lGOD"):
		return "image/gif"
	case strings.HasPrefix(data, "UklGR"):
		return "image/webp"
	}
	return "image/png"
}
