package cli

import (
	"os"
	"time"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/adapter/codex"
	commandline "github.com/tributary-dev/tributary/adapter/command"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/adapter/openharness"
	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// builtIn is the one map of adapters, in the order of their names.
func builtIn() catalog {
	ops := agentops.Adapter()
	ops.New = newAgentops
	return catalog{
		acp.Adapter(), ops, agui.Adapter(), claude.Adapter(), codex.Adapter(), commandAdapter(), demo.Adapter(), echo.Adapter(),
		langgraph.Adapter(), langgraph.BackendAdapter(), openai.Adapter("openai"), opencode.Adapter(), openharness.Adapter(), runner.Adapter(),
		uiendpoint.Adapter(),
	}
}

// commandAdapter adds what one adapter may not know of another: Claude Code as a program that prints text.
func commandAdapter() agent.Adapter {
	a := commandline.Adapter()
	a.Presets = []agent.Preset{{
		Name: "claude-text", Command: "claude", Args: []string{"-p"}, Install: "npm install -g @anthropic-ai/claude-code",
		Environ: claude.Adapter().Environ, Grants: claude.LooseSettings(),
	}}
	a.New = func(s agent.Settings) (agent.Runtime, error) {
		r := commandline.Runtime{Command: s.Command, Args: s.Args, Env: s.Environ}
		if s.Preset == "claude-text" {
			r.Refused = claude.LooseCommands()
		}
		return r, nil
	}
	return a
}

func newAgentops(s agent.Settings) (agent.Runtime, error) {
	var o struct {
		// Lookup names the property by which the server knows the gateway's users: user_id,
		// email, or off.
		Lookup string `json:"lookup"`
		// Socket says how long a connection lasts: shared, or request (one turn).
		Socket         string         `json:"socket"`
		Strict         bool           `json:"strict"`
		ConnectTimeout agent.Duration `json:"connect_timeout"`
		WakeLimit      agent.Duration `json:"wake_limit"`
		MaxFrame       config.Size    `json:"max_frame"`
	}
	if err := agent.DecodeOptions(s.Options, &o); err != nil {
		return nil, err
	}
	switch {
	case s.TokenEnv != "" && os.Getenv(s.TokenEnv) == "":
		return nil, agent.WrongSetting("token_env", "names %s, and there is no such environment variable: set it", s.TokenEnv)
	case o.Lookup != "" && o.Lookup != "user_id" && o.Lookup != "email" && o.Lookup != "off":
		return nil, agent.WrongSetting("options.lookup", "is %q: write user_id, email or off", o.Lookup)
	case o.Socket != "" && o.Socket != "shared" && o.Socket != "request":
		return nil, agent.WrongSetting("options.socket", "is %q: write shared or request", o.Socket)
	case o.MaxFrame == config.None:
		return nil, agent.WrongSetting("options.max_frame", "is none: write a size such as 64MB, for a frame is held in memory")
	}
	tools := toolkind.OpenCode().With(s.ToolKinds)
	r := agentops.Runtime{
		URL: s.URL, Token: agentops.Credential{Env: s.TokenEnv, File: s.TokenFile}, PerTurn: o.Socket == "request", Strict: o.Strict,
		ConnectTime: time.Duration(o.ConnectTimeout), WakeTime: time.Duration(o.WakeLimit), MaxFrame: int64(o.MaxFrame), Tools: &tools,
	}
	service := r.Token != (agentops.Credential{})
	switch {
	case !service && o.Lookup != "" && o.Lookup != "off":
		return nil, agent.WrongSetting("options.lookup", "means something only with a service token: set token_env or token_file, or remove it")
	case !service, o.Lookup == "off":
		return r, nil
	case o.Lookup == "email":
		return agentops.Roster{Runtime: r, By: agentops.UserEmail}, nil
	}
	return agentops.Roster{Runtime: r}, nil
}
