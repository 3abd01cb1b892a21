package agentops

import (
	"cmp"
	"encoding/base64"
	"io"
	"strings"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

// mostAttachments bounds the files of a prompt.
const mostAttachments = 100

// wellFormed returns the error of trace.CheckFiles.
func wellFormed(all []wire.Attachment) error {
	parts := make([]trace.InputPart, len(all))
	for i, a := range all {
		parts[i] = trace.InputPart{Type: trace.InputFile, MediaType: a.MIME, URL: a.URL, Filename: a.Filename}
	}
	return trace.CheckFiles(parts)
}

// attached makes parts of attachments: pictures, sounds and PDFs in data URLs. dropped
// reports whether others were left out.
func attached(all []wire.Attachment) (parts []trace.InputPart, dropped bool) {
	for i, a := range all {
		typ, ok := accepted(a)
		if i >= mostAttachments || !ok {
			dropped = true
			continue
		}
		parts = append(parts, trace.InputPart{Type: trace.InputFile, MediaType: typ, URL: a.URL, Filename: a.Filename})
	}
	return parts, dropped
}

// accepted returns the media type of an attachment, and whether agents can read the file.
// The type in the URL counts, because readers of the URL go by that type.
func accepted(a wire.Attachment) (mediaType string, ok bool) {
	head, data, _ := strings.Cut(a.URL, ",")
	meta, isData := strings.CutPrefix(head, "data:")
	typ, encoding, _ := strings.Cut(meta, ";")
	typ = cmp.Or(typ, a.MIME)
	known := strings.HasPrefix(typ, "image/") || strings.HasPrefix(typ, "audio/") || typ == "application/pdf"
	if !isData || !known || !strings.HasSuffix(";"+encoding, ";base64") {
		return "", false
	}
	n, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	return typ, err == nil && n > 0
}
