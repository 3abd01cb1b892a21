package agentops

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/trace"
)

// place is where a prompt is put: a thread, a channel, or neither.
type place struct {
	thread  string
	channel wire.Channel
}

// defaultType is the type of a channel that is named without one. A channel of most
// other types makes the session agent send reminders and answers there.
const defaultType = "web"

// parsePlace reads the channel of a prompt: "thread:ID", "TYPE:ID", or "ID" for a
// channel of the web. Nothing is the place that the session is at.
func parsePlace(channel string) place {
	kind, id, typed := strings.Cut(channel, ":")
	switch {
	case channel == "":
		return place{}
	case !typed:
		return place{channel: wire.Channel{ChannelType: defaultType, ChannelID: channel}}
	case kind == wire.ThreadChannel:
		return place{thread: id}
	}
	return place{channel: wire.Channel{ChannelType: kind, ChannelID: id}}
}

// outgoing is a prompt as it is sent. Servers that trace know of the last field.
type outgoing struct {
	Type string `json:"type,omitempty"` // not by REST
	wire.Prompt
	Traceparent string `json:"traceparent,omitempty"`
}

// mostFiles is how much a server takes of attachments, each and all, in characters of an
// address.
const mostFiles = 90_000_000

// fileTypes begin the media types that a server takes.
func fileTypes() []string { return []string{"image/", "audio/", "application/pdf"} }

// attach makes attachments of a message's files. What the server would drop without
// a word is left out, and dropped says why.
func attach(m trace.UserMessage) (files []wire.Attachment, dropped []string) {
	sum := 0
	for _, part := range m.Parts {
		if part.Type != trace.InputFile {
			continue
		}
		f, why := attachment(part)
		if why == "" && sum+len(f.URL) > mostFiles {
			why = fmt.Sprintf("the files together are larger than Agent Ops takes (%d characters of base64)", mostFiles)
		}
		if why != "" {
			dropped = append(dropped, fmt.Sprintf("The file %s was not sent: %s.", nameOf(part), why))
			continue
		}
		sum += len(f.URL)
		files = append(files, f)
	}
	return files, dropped
}

func nameOf(part trace.InputPart) string {
	if part.Filename != "" {
		return oneLine(part.Filename)
	}
	return "of type " + oneLine(part.MediaType)
}

// attachment makes an attachment of a file; why says why that cannot be.
func attachment(part trace.InputPart) (f wire.Attachment, why string) {
	data, ok := strings.CutPrefix(part.URL, "data:")
	head, body, cut := strings.Cut(data, ",")
	if !ok || !cut {
		return f, "Agent Ops takes no addresses of files, only their content"
	}
	media, params, _ := strings.Cut(head, ";")
	if part.MediaType != "" {
		media = part.MediaType
	}
	if !strings.HasSuffix(";"+params, ";base64") {
		plain, err := url.PathUnescape(body)
		if err != nil {
			return f, "its data URL cannot be read"
		}
		body = base64.StdEncoding.EncodeToString([]byte(plain))
	}
	f = wire.Attachment{Type: "file", MIME: media, URL: "data:" + media + ";base64," + body, Filename: part.Filename}
	for _, prefix := range fileTypes() {
		if strings.HasPrefix(media, prefix) {
			if len(f.URL) > mostFiles {
				return f, fmt.Sprintf("it is larger than Agent Ops takes (%d characters of base64)", mostFiles)
			}
			return f, ""
		}
	}
	return f, fmt.Sprintf("this Agent Ops takes no %s, only %s", oneLine(media), strings.Join(fileTypes(), ", "))
}
