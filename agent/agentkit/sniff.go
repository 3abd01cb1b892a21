package agentkit

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// This file tells what an attached file is.

// sniff finds the media type of a file that came without one, and makes UTF-8 of its text.
func (a *Attachment) sniff() {
	media := a.Media
	if media = known(media); media == "" {
		media = typeOfName(a.Name)
	}
	if media != "" && !ofText(media) {
		a.set(media, a.Data)
		return
	}
	data := toUTF8(a.Data)
	switch {
	case media != "":
		a.set(media, data)
	case readable(data):
		a.set("text/plain", data)
	}
}

// set replaces type and content. The data URL as it came is then no longer the file's.
func (a *Attachment) set(media string, data []byte) {
	if media != a.Media || !bytes.Equal(data, a.Data) {
		a.Media, a.Data, a.raw = media, data, ""
	}
}

// known is a media type, unless it says no more than that there are bytes.
func known(media string) string {
	if media == "application/octet-stream" {
		return ""
	}
	return media
}

// typeOfName is the type that a name's ending tells, of the files that are no text; else "".
func typeOfName(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".heic":
		return "image/heic"
	case ".pdf":
		return "application/pdf"
	case ".zip":
		return "application/zip"
	case ".gz", ".tgz":
		return "application/gzip"
	case ".mp3":
		return "audio/mpeg"
	case ".wav":
		return "audio/wav"
	case ".mp4":
		return "video/mp4"
	}
	return ""
}

// ofText reports whether a type is one of texts.
func ofText(media string) bool {
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "json") || strings.HasSuffix(media, "xml")
}

// ofBytes reports whether no text is of that type, whatever its bytes look like.
func ofBytes(media string) bool {
	kind, sub, _ := strings.Cut(media, "/")
	return !ofText(media) && (slices.Contains([]string{"image", "audio", "video", "font"}, kind) || strings.HasPrefix(sub, "vnd.") ||
		slices.Contains([]string{"pdf", "zip", "gzip", "x-tar", "msword", "octet-stream"}, sub))
}

// readable reports whether bytes are a text in UTF-8. Files of other kinds nearly always hold
// bytes that stand in no text, such as zero.
func readable(data []byte) bool {
	const escape = 27 // colours of a terminal
	odd := func(b rune) bool { return b < ' ' && b != escape && !strings.ContainsRune("\t\n\r\f\b", b) }
	return utf8.Valid(data) && bytes.IndexFunc(data, odd) < 0
}

// toUTF8 drops the byte order mark of a text, and converts UTF-16 that has one.
func toUTF8(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for rest := data[2:]; len(rest) >= 2; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return []byte(string(utf16.Decode(units)))
}
