package trace

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file collects and shows the text that a running call prints.

const (
	// outputShown is how much of a running call's text is shown, from its end: each
	// progress repeats all that it shows.
	outputShown = 32 << 10
	// outputPause is how long the same call is silent between two of them, unless much
	// has come.
	outputPause = 250 * time.Millisecond
)

// output is the text that a running call has printed so far.
type output struct {
	text        strings.Builder
	partialRune string
	cut         bool      // it is full
	unsent      int       // bytes since the last progress
	shownAt     time.Time // when that was
}

// ToolResultDelta adds to the text that a running call prints. The Builder shows the
// end of the text now and then, so that a command costs no more than it prints. A
// result that brings no output of its own gets the text.
func (b *Builder) ToolResultDelta(toolCallID, text string) {
	b.do(func(t *turn) {
		c := t.openCall(toolCallID)
		if c == nil {
			return
		}
		t.completeCall(c)
		if c.output == nil {
			c.output = &output{}
		}
		t.print(c.output, text)
		t.weigh(c)
		switch {
		case c.output.unsent == 0:
		case c.output.unsent >= outputShown, t.touched.Sub(c.output.shownAt) >= outputPause:
			t.showOutput(c)
		default:
			t.showLater(c)
		}
	})
}

// print adds to the text, up to the size that an output may have.
func (t *turn) print(o *output, text string) {
	text, o.partialRune = splitPartialRune(o.partialRune + text)
	if o.cut {
		t.spend(len(text), 0)
		return
	}
	if text, o.cut = clip(text, t.MaxEvent-o.text.Len()); o.cut {
		t.counts.Cut++
	}
	o.text.WriteString(text)
	o.unsent += len(text)
}

func (t *turn) showOutput(c *call) {
	o := c.output
	text := o.text.String()
	if over := len(text) - outputShown; over > 0 {
		for !utf8.RuneStart(text[over]) {
			over++
		}
		text = "…" + text[over:]
	}
	o.unsent, o.shownAt = 0, t.touched
	t.put(c.event, c.by.actor(), ToolResultProgress{ToolCallID: c.tool.ToolCallID, Output: quote.Append(nil, text)})
}

// whole is the text as a tool's output.
func (o *output) whole() json.RawMessage {
	if o.partialRune != "" && !o.cut {
		o.text.WriteString(lostRune)
	}
	return quote.Append(nil, o.text.String())
}

// showLater shows what a call printed last also if it prints nothing more for long.
func (t *turn) showLater(c *call) {
	if t.ShowWithin <= 0 || slices.Contains(t.printing, c) {
		return
	}
	t.printing = append(t.printing, c)
	if len(t.printing) == 1 {
		time.AfterFunc(t.ShowWithin, t.showWaiting)
	}
}

// showWaiting runs by itself, and does nothing once the turn is over.
func (t *turn) showWaiting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting := t.printing
	t.printing = nil
	if t.done {
		return
	}
	last := t.touched
	t.touched = t.Now()
	defer func() { t.touched = last }() // the agent has said nothing
	for _, c := range waiting {
		switch {
		case c.done || c.output.unsent == 0:
		case t.full():
			t.showLater(c)
		default:
			t.showOutput(c)
		}
	}
}
