// Package quote writes JSON strings: into the log, and into the streams of the
// clients. Most of both is strings, so they are written in place. The package also
// writes texts and JSON for a person who decides on them.
package quote

import "unicode/utf8"

// Append appends s as encoding/json writes it without its escapes for HTML.
func Append(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		n, escape := 1, [6]byte{'\\', c}
		length := 2
		switch {
		case c == '"' || c == '\\':
		case c == '\b':
			escape[1] = 'b'
		case c == '\f':
			escape[1] = 'f'
		case c == '\n':
			escape[1] = 'n'
		case c == '\r':
			escape[1] = 'r'
		case c == '\t':
			escape[1] = 't'
		case c < ' ':
			escape, length = [6]byte{'\\', 'u', '0', '0', hex[c>>4], hex[c&0xF]}, 6
		default:
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				escape, length = [6]byte([]byte(`\ufffd`)), 6
			case r == '\u2028' || r == '\u2029': // line ends in old JavaScript
				escape, length = [6]byte{'\\', 'u', '2', '0', '2', hex[r&0xF]}, 6
			default:
				i += n
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		dst = append(dst, escape[:length]...)
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
