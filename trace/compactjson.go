package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file makes JSON of any bytes, and bounds the outputs of tools.

// CompactJSON makes any bytes a JSON value on one line: JSON stays what it is, byte
// for byte but for white space, and anything else becomes a string.
func CompactJSON(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("null")
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err == nil && utf8.Valid(out.Bytes()) {
		return out.Bytes()
	}
	return quote.Append(nil, strings.ToValidUTF8(string(raw), string(utf8.RuneError)))
}

const cutMark = "…[cut by the gateway: the output was too large]"

// cut bounds a tool's output.
func (t *turn) cut(output json.RawMessage) json.RawMessage {
	whole := CompactJSON(output)
	if len(whole) <= t.MaxEvent {
		return whole
	}
	t.counts.Cut++
	head := string(whole)
	if whole[0] == '"' {
		if err := json.Unmarshal(whole, &head); err != nil {
			head = string(whole)
		}
	}
	for size := t.MaxEvent; ; size /= 2 { // quoting makes some text longer
		head = beginning(head, size)
		if quoted := quote.Append(nil, head+cutMark); len(quoted) <= t.MaxEvent+len(cutMark)+2 {
			return quoted
		}
	}
}

func (t *turn) cutText(s string) string {
	s, cut := clip(s, t.MaxEvent)
	if cut {
		t.counts.Cut++
	}
	return s
}

// mostErrorText bounds in bytes the sentence that says what failed, and each word of why. A text
// of that kind is sent to a client several times.
const mostErrorText = 64 << 10

func cutError(s string) string {
	s, _ = clip(s, mostErrorText)
	return s
}

// clip is the text, or its first n bytes and a mark if it is longer.
func clip(s string, n int) (clipped string, cut bool) {
	if len(s) <= n {
		return s, false
	}
	return beginning(s, n) + cutMark, true
}

func (s Stop) cut() Stop {
	s.Reason, s.Error = cutError(s.Reason), cutError(s.Error)
	return s
}

func (e Error) cut() Error {
	e.Code, e.Message = cutError(e.Code), cutError(e.Message)
	return e
}

// beginning is the first part of s, up to n bytes, with no half character.
func beginning(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	whole, _ := splitPartialRune(s)
	return whole
}
