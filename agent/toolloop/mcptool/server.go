// Package mcptool offers the tools of MCP servers to a model in this process.
//
// A session has its own servers. They are connected when their tools are first listed,
// and again if a connection was lost.
package mcptool

import (
	"os"
	"regexp"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
)

// Server says how an MCP server is reached: a command, or a URL.
type Server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	URL     string            `json:"url"`
	// TokenEnv names the environment variable of the gateway with a bearer token for URL.
	TokenEnv string `json:"token_env"`
}

const longestServer = 32

// serverName keeps mcp__SERVER__TOOL unambiguous: a grant or a rule for one server's tool
// is none for another's.
//
//nolint:gochecknoglobals // compiled once
var serverName = regexp.MustCompile(`^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$`)

// Check returns an error that names the setting if the server cannot be meant. The key
// is that of the server in the configuration.
func (s Server) Check(key, name string) error {
	if !serverName.MatchString(name) || len(name) > longestServer {
		return agent.WrongSetting(key, "has a server %q: use letters, digits, - and single _, at most %d, so that its tools are told from those of the others", name, longestServer)
	}
	key += "." + name
	if (s.Command == "") == (s.URL == "") {
		return agent.WrongSetting(key, "needs either a command or a url")
	}
	if s.TokenEnv != "" && os.Getenv(s.TokenEnv) == "" {
		return agent.WrongSetting(key+".token_env", "names %s, and there is no such environment variable: set it", s.TokenEnv)
	}
	return nil
}

// Place is where the commands of servers run.
type Place struct {
	Dir string
	// Env is the whole environment, without what a Server adds.
	Env []string
	// StateDir is where running servers are noted, so that the next start of the gateway
	// ends those that a crash left; "" notes nothing.
	StateDir string
	// Box is that of the session.
	Box box.Rule
}
