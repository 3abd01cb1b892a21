package trace

import (
	"fmt"
	"mime"
	"strings"
	"unicode"
)

// FileError says why a file of a prompt is refused.
type FileError struct{ Sentence string }

// Error implements error.
func (e *FileError) Error() string { return e.Sentence }

// CheckFiles returns a *FileError for a file whose address, media type or name is malformed.
// Agents put all three between words of their own, and some obey what such a text says.
func CheckFiles(parts []InputPart) error {
	for _, p := range parts {
		if p.Type == InputText {
			continue
		}
		head, _, _ := strings.Cut(p.URL, ",")
		media, isData := strings.CutPrefix(head, "data:")
		media = strings.TrimSuffix(media, ";base64")
		if strings.HasPrefix(media, ";") {
			media = "text/plain" + media // as a data URL may leave out
		}
		wrong := ""
		switch {
		case strings.ContainsFunc(p.Filename, noName):
			wrong = "name of the file %.80q holds control characters: rename the file"
		case strings.ContainsFunc(p.URL, noAddress):
			wrong = "address of the file %.80q holds white space or control characters: write them as %%20 and the like"
		case !isMediaType(p.MediaType), isData && !isMediaType(media):
			wrong = "media type of the file %.80q is malformed: send one such as text/plain"
		default:
			continue
		}
		return &FileError{fmt.Sprintf("the "+wrong, p.Filename)}
	}
	return nil
}

// noName reports whether a character may not stand in the name of a file: a control character,
// an end of a line, a mark that reverses what is read, or a space that nobody sees. Joiners and
// marks of direction belong to names in some scripts.
func noName(r rune) bool {
	switch {
	case '\u202A' <= r && r <= '\u202E', '\u2066' <= r && r <= '\u2069', r == '\u200B', r == '\u2060', r == '\uFEFF':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
}

// noAddress reports whether a character may not stand in an address.
func noAddress(r rune) bool {
	if r < unicode.MaxASCII { // an address may hold megabytes of data
		return r <= ' '
	}
	return r == unicode.MaxASCII || unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
}

// isMediaType reports whether a text is a media type, as RFC 9110 has it, or empty.
func isMediaType(s string) bool {
	if s == "" {
		return true
	}
	kind, values, err := mime.ParseMediaType(s)
	for _, v := range values {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' || r == '@' }) {
			return false
		}
	}
	return err == nil && strings.Count(kind, "/") == 1 && strings.TrimSpace(s) == s
}
