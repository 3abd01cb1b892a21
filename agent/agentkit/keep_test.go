package agentkit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
)

// An agent that floods a BoundedMap loses what is old, and what came last is known. The same id again is
// no flood.
func TestABoundedMapKnowsTheNewest(t *testing.T) {
	t.Parallel()
	var r agentkit.BoundedMap
	if r.Get("nothing") != "" {
		t.Error("an empty BoundedMap knows something")
	}
	long := strings.Repeat("x", 10_000)
	r.Put("first", "kept")
	for n := range 1000 {
		r.Put("again", long+fmt.Sprint(n))
	}
	if r.Get("first") != "kept" || r.Get("again") != long+"999" {
		t.Error("an id that is put again and again costs others")
	}
	for n := range 1000 {
		id := long + fmt.Sprint(n)
		if r.Put(id, "kept"); r.Get(id) != "kept" {
			t.Fatalf("the id %d is not known", n)
		}
	}
	if r.Get("first") != "" {
		t.Error("nothing was forgotten")
	}
}
