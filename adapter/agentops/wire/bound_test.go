package wire_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
)

// A frame costs memory in proportion to its size: a list of very many elements that
// say nothing is cut, and what comes first in it is kept.
func TestAListOfVeryManyElementsIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it decodes megabytes, in one goroutine")
	}
	const n = 2_000_000
	for name, c := range map[string]struct{ before, element, after string }{
		"parts":          {`{"type":"message.updated","data":{"id":"m","role":"assistant","parts":[{"type":"text","text":"x"}`, `{}`, `]}}`},
		"parts of words": {`{"type":"message.updated","data":{"id":"m","role":"assistant","parts":[{"type":"text","text":"x"}`, `1`, `]}}`},
		"messages":       {`{"type":"init","session":{"id":"s","messages":[{"id":"m","role":"user"}`, `{}`, `]},"data":{}}`},
		"users":          {`{"type":"init","session":{"id":"s"},"data":{"connectedUsers":["u"`, `""`, `]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(c.before + strings.Repeat(","+c.element, n) + c.after)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			f, err := wire.Decode(wire.ToBrowser, data)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
				t.Errorf("a frame of %d bytes cost %d", len(data), grown)
			}
			switch f := f.(type) {
			case wire.MessageUpdated:
				if len(f.Data.Parts) == 0 || f.Data.Parts[0].Text != "x" {
					t.Error("the first part is lost")
				}
			case wire.Init:
				if len(f.Session.Messages) == 0 && len(f.Data.ConnectedUsers) == 0 {
					t.Error("the first element is lost")
				}
			}
		})
	}
}
