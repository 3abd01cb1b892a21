// Package tributary is the program tributary, for agents that live in other modules:
//
//	func main() { tributary.Main(myagent.Adapter()) }
//
// is the whole program with one more adapter. See examples/agent-module.
package tributary

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/cli"
)

// Main runs the command line of the process with further adapters, and ends the process
// with its exit status. An adapter of the same name as a built-in one replaces it.
func Main(adapters ...agent.Adapter) { cli.Main(adapters...) }
