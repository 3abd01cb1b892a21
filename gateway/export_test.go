package gateway

import (
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/internal/inflight"
)

// Patterns are those of all routes for principals.
func Patterns() (all []string) {
	g := &gateway{Options: Options{Sockets: &inflight.Count{}}, limiter: limit.New(limit.Options{})}
	g.routes(func(pattern string, _ handler) { all = append(all, pattern) })
	return all
}

// OpenPatterns are those of all other routes that answer something.
func OpenPatterns() (all []string) {
	(&gateway{}).openRoutes(func(pattern string, _ handler) { all = append(all, pattern) })
	return append(all, "GET /")
}
