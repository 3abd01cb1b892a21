package agentops

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/agent/agentkit"

	"github.com/tributary-dev/tributary/trace"
)

// place is the place of a prompt: a thread, a channel, or neither.
type place struct {
	thread  string
	channel wire.Channel
}

// defaultType is the type of a channel that is named without one. The session agent sends
// reminders and answers to channels of most other types.
const defaultType = "web"

// parsePlace reads the channel of a prompt: "thread:ID", "TYPE:ID", or "ID" for a channel of the
// web.
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

// outgoing is a prompt as it is sent. Servers that trace know the last field.
type outgoing struct {
	Type string `json:"type,omitempty"` // not by HTTP
	wire.Prompt
	Traceparent string `json:"traceparent,omitempty"`
}

// mostFiles is how much a server takes of attachments, each and all, in characters of a URL.
const mostFiles = 90_000_000

// fileTypes begin the media types that a server takes.
func fileTypes() []string { return []string{"image/", "audio/", "application/pdf"} }

// attach makes attachments of the files of a prompt. A file that the server would drop without
// a word is left out, and dropped says why.
func attach(m trace.UserMessage, inside func(path string) bool) (files []wire.Attachment, dropped []string) {
	sum := 0
	for _, part := range m.Parts {
		if part.Type != trace.InputFile {
			continue
		}
		f, err := attachment(part, inside)
		if err == nil && sum+len(f.URL) > mostFiles {
			err = fmt.Errorf("the files together are larger than Agent Ops takes (%d characters of base64)", mostFiles)
		}
		if err != nil {
			name := cmp.Or(oneLine(part.Filename), "of type "+oneLine(part.MediaType))
			dropped = append(dropped, fmt.Sprintf("The file %s was not sent: %v.", name, err))
			continue
		}
		sum += len(f.URL)
		files = append(files, f)
	}
	return files, dropped
}

// attachment makes an attachment of a file. The error is a phrase.
func attachment(part trace.InputPart, inside func(path string) bool) (f wire.Attachment, _ error) {
	data, ok := strings.CutPrefix(part.URL, "data:")
	head, body, cut := strings.Cut(data, ",")
	if !ok || !cut {
		return f, fmt.Errorf("Agent Ops takes no addresses of files, only their content") //nolint:staticcheck,revive // a name begins it
	}
	_, params, _ := strings.Cut(head, ";")
	var file agentkit.Attachment // without mentions
	agentkit.Blocks([]trace.InputPart{part}, inside, agentkit.Words, func(a agentkit.Attachment) (string, bool) {
		file = a
		return "", true
	})
	media := file.Media
	if !strings.HasSuffix(";"+params, ";base64") {
		plain, err := url.PathUnescape(body)
		if err != nil {
			return f, fmt.Errorf("its data URL cannot be read")
		}
		body = base64.StdEncoding.EncodeToString([]byte(plain))
	}
	switch {
	case file.Inline:
		body = base64.StdEncoding.EncodeToString(file.Data)
	case strings.Contains(body, "@"):
		return f, fmt.Errorf("its data URL cannot be read")
	}
	f = wire.Attachment{Type: "file", MIME: media, URL: dataURL(media, body), Filename: file.Name}
	if !slices.ContainsFunc(fileTypes(), func(prefix string) bool { return strings.HasPrefix(media, prefix) }) {
		return f, fmt.Errorf("this Agent Ops takes no %s, only %s", oneLine(media), strings.Join(fileTypes(), ", "))
	}
	if len(f.URL) > mostFiles {
		return f, fmt.Errorf("it is larger than Agent Ops takes (%d characters of base64)", mostFiles)
	}
	return f, nil
}
