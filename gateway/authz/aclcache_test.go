package authz

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// The cache is bounded also if each of many good tokens comes once.
//
//evidence:for limit-lookup-answers
func TestEntriesOfPassThroughTokensHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const bound = 2 * maxEntries
		c := newACLCache()
		for i := range uint64(2 * bound) {
			caller := lookupCaller{token: sha256.Sum256(binary.BigEndian.AppendUint64(nil, i)), agent: "ops"}
			_, _, _ = c.find(t.Context(), lookupKey{caller, "s"}, func(context.Context) (agent.Found, error) {
				return agent.Found{Role: "viewer"}, nil
			})
			time.Sleep(time.Second)
		}
		if n := len(c.of); n > bound {
			t.Errorf("the cache has %d entries", n)
		}
	})
}
