package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agentops/server"
)

// ACLEntriesOfGuests lets so many guests into a session, one after another, and returns how
// much is remembered of them.
func ACLEntriesOfGuests(ctx context.Context, guests uint64, pause time.Duration) int {
	f := newACLCache()
	for i := range guests {
		token := sha256.Sum256(binary.BigEndian.AppendUint64(nil, i))
		_, _, _ = f.find(ctx, lookupKey{lookupCaller{guest: token, agent: "ops"}, "s"}, func(context.Context) (agent.Found, error) {
			return agent.Found{Role: "viewer"}, nil
		})
		time.Sleep(pause)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.of)
}

// Patterns are those of all routes for principals.
func Patterns() (all []string) {
	g := &gateway{Options: Options{Sockets: &server.Sockets{}}, limiter: newLimiter(Limits{}), aclCache: newACLCache()}
	g.routes(func(pattern string, _ handler) { all = append(all, pattern) })
	return all
}

// OpenPatterns are those of all other routes that answer something.
func OpenPatterns() (all []string) {
	(&gateway{}).openRoutes(func(pattern string, _ handler) { all = append(all, pattern) })
	return append(all, "GET /")
}
