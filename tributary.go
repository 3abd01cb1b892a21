// Package tributary is the gateway as a library, for other modules.
//
// [Main] is the whole program with further adapters; see examples/agent-module:
//
//	func main() { tributary.Main(myagent.Adapter()) }
//
// [New] is the gateway as an http.Handler in a server of your own; see examples/in-your-server:
//
//	agents, err := tributary.New(ctx, tributary.Options{Sessions: …, Who: …})
//	http.Handle("/agents/", http.StripPrefix("/agents", agents))
//
// The program has the same routes, and a guard with tokens in front of them. With New your
// server knows its users, and [Options].Who names them.
package tributary

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/cli"
)

// Main runs the command line of the process with further adapters, and ends the process
// with its exit status. An adapter of the same name as a built-in one replaces it.
func Main(adapters ...agent.Adapter) { cli.Main(adapters...) }
