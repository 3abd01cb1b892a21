package scriptedmodel

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Break says how a streamed answer ends before its time.
type Break string

// The ways an answer can break.
const (
	BreakNone  Break = ""
	BreakEvent Break = "event" // an error event in mid-stream
	BreakCut   Break = "cut"   // the connection drops
)

// Answer is what the model says next.
type Answer struct {
	ID        string        `json:"id"` // unique per server
	Reasoning string        `json:"reasoning,omitempty"`
	Text      string        `json:"text,omitempty"`
	Calls     []Call        `json:"calls,omitempty"`
	Pace      time.Duration `json:"pace,omitempty"`   // between two deltas
	Delta     int           `json:"delta,omitempty"`  // runes per delta; 0 = a few words
	Status    int           `json:"status,omitempty"` // an HTTP error instead of an answer
	Break     Break         `json:"break,omitempty"`
}

// Call is one tool call of an Answer.
type Call struct {
	ID    string         `json:"id"` // unique per server
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
	// Text is the whole input of a tool that takes free text; Input is nil then.
	Text string `json:"text,omitempty"`
}

// input returns what is streamed as the call's input.
func (c Call) input() string {
	if c.Text != "" {
		return c.Text
	}
	raw, _ := json.Marshal(c.Input) // parsed from JSON, or strings
	return string(raw)
}

// tokens counts an answer's output, roughly.
func (a Answer) tokens() int {
	n := a.thoughtTokens() + len(strings.Fields(a.Text)) + 1
	for _, c := range a.Calls {
		n += 10*len(c.Input) + len(strings.Fields(c.Text))
	}
	return n
}

func (a Answer) thoughtTokens() int { return len(strings.Fields(a.Reasoning)) }

// deltas cuts a text into the pieces that are streamed one by one; together
// they are the text, and each is valid UTF-8 if the text is.
func (a Answer) deltas(text string) []string {
	if a.Delta > 0 {
		return pieces(text, a.Delta)
	}
	words := 2
	if a.Pace > 0 {
		words = 1
	}
	return wordPieces(text, words)
}

// inputDeltas cuts the JSON of a call's input: after blanks, commas and colons,
// so that no path is torn, or as the text is if that comes in large deltas.
func (a Answer) inputDeltas(input string) []string {
	if a.Delta > 0 {
		return pieces(input, a.Delta)
	}
	var out []string
	for piece := input; piece != ""; {
		end := strings.IndexAny(piece, " ,:")
		if end < 0 {
			return append(out, piece)
		}
		out = append(out, piece[:end+1])
		piece = piece[end+1:]
	}
	return out
}

func pieces(text string, runes int) []string {
	var out []string
	for len(text) > 0 {
		end := 0
		for range runes {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}

// wordPieces cuts after each run of n words, blanks included.
func wordPieces(text string, n int) []string {
	var out []string
	start, words, blank := 0, 0, false
	for i, r := range text {
		space := r == ' ' || r == '\n'
		if blank && !space {
			if words++; words == n {
				out = append(out, text[start:i])
				start, words = i, 0
			}
		}
		blank = space
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
