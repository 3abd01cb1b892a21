package agentops

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
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

// domain takes a frame that is no part of the conversation. Outside a turn only the kinds that
// last are kept.
func (d *Decoder) domain(f wire.Frame, frame json.RawMessage, to agent.Turns) {
	w, ok := worlds(f.Type())
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
	data := trace.Data{Name: w.name, Value: value, Transient: w.passing, Domain: true}
	if !w.passing {
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
		t.b.Emit(data)
	case !w.passing:
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

// screenshot takes a picture.
func (d *Decoder) screenshot(p wire.Part, t *turn, to agent.Turns) {
	if p.Data == "" || p.Type != wire.PartScreenshot && p.Type != wire.PartImage {
		return
	}
	media := p.MIMEType
	if media == "" {
		media = pictureType(p.Data)
	}
	f := trace.File{URL: dataURL(media, p.Data), MediaType: media, Filename: p.Filename}
	d.emit(t, f, to)
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
