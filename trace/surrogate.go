package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// This file joins characters that an agent has cut in two.

// JSONText is a string decoded from JSON that keeps half a surrogate pair.
// Agents cut text anywhere, also inside an emoji, and then one line ends with
// "\ud83d" and the next begins with "\ude00". encoding/json replaces both by
// U+FFFD; JSONText keeps them as the three bytes that UTF-8 would use if it
// could, and a [Builder] joins them again.
type JSONText string

// UnmarshalJSON implements json.Unmarshaler.
func (s *JSONText) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if string(data) == "null" {
		return nil
	}
	var plain string
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	if !strings.Contains(plain, string(utf8.RuneError)) {
		*s = JSONText(plain)
		return nil
	}
	*s = JSONText(unquote(string(data)))
	return nil
}

// unquote decodes a valid JSON string and keeps lone surrogates.
func unquote(q string) string {
	var out []byte
	for i := 1; i < len(q)-1; i++ {
		c := q[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch q[i] {
		case 'u':
			r := unit(q[i+1:])
			i += 4
			if i+3 < len(q) && q[i+1:i+3] == `\u` && utf16.DecodeRune(r, unit(q[i+3:])) != utf8.RuneError {
				r = utf16.DecodeRune(r, unit(q[i+3:]))
				i += 6
			}
			out = appendUnit(out, r)
		default:
			const short, plain = `bfnrt"\/`, "\b\f\n\r\t\"\\/"
			out = append(out, plain[strings.IndexByte(short, q[i])])
		}
	}
	return string(out)
}

// unit is the UTF-16 unit whose four digits begin the text.
func unit(digits string) rune {
	r, _ := strconv.ParseUint(digits[:4], 16, 16) // the string is valid JSON
	return rune(r)
}

// appendUnit appends a UTF-16 unit; surrogates become three bytes.
func appendUnit(out []byte, r rune) []byte {
	if r < 0xD800 || r > 0xDFFF {
		return utf8.AppendRune(out, r)
	}
	return append(out, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
}

// splitPartialRune joins surrogates that have met, replaces what can never become a
// character, and returns the half character at the end, if there is one, apart.
func splitPartialRune(s string) (whole, half string) {
	if utf8.ValidString(s) {
		return s, ""
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		hi, isHigh := surrogate(s[i:], 0xA0)
		if isHigh {
			rest := s[i+3:]
			if lo, ok := surrogate(rest, 0xB0); ok {
				out.WriteRune(utf16.DecodeRune(hi, lo))
				i += 6
				continue
			}
			if maybeLow(rest) {
				return out.String(), s[i:]
			}
		}
		if _, isLow := surrogate(s[i:], 0xB0); isHigh || isLow {
			out.WriteRune(utf8.RuneError)
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			if !utf8.FullRuneInString(s[i:]) || maybeSurrogate(s[i:]) {
				return out.String(), s[i:]
			}
		}
		out.WriteRune(r)
		i += n
	}
	return out.String(), ""
}

// surrogate decodes a surrogate half of the kind given by its second byte.
func surrogate(s string, kind byte) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1]&0xF0 != kind || s[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// maybeLow reports whether s may yet become a low surrogate.
func maybeLow(s string) bool {
	return s == "" || s == "\xED" || len(s) == 2 && s[0] == 0xED && s[1]&0xF0 == 0xB0
}

// maybeSurrogate reports whether s is a cut-off surrogate.
func maybeSurrogate(s string) bool {
	return s == "\xED" || len(s) == 2 && s[0] == 0xED && s[1] >= 0xA0 && s[1] < 0xC0
}

// lostRune is what becomes of half a character whose other half never came.
const lostRune = string(utf8.RuneError)
