// Package agentset makes the agents of a gateway, and keeps the gateway safe from them. It gives
// their processes an environment and their tools a table. It refuses arguments that switch permission
// requests off, and workspaces that hold what an agent must not read. The program and the library make
// their agents here, so that neither has a rule that the other lacks.
package agentset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
)

// Gateway is what a gateway keeps from its agents. Paths are absolute.
type Gateway struct {
	// Data is the data directory, which holds the token and all sessions; "" if there is none.
	Data string
	// Workspaces is the directory for the workspaces of sessions; "" if no session has its own.
	Workspaces string
	// SecretEnv names the environment variables that hold a secret.
	SecretEnv []string
	// SecretFiles are the files with a secret.
	SecretFiles []string
	// Closed are further files that no agent may read or write.
	Closed []string
	// Alone says that one person uses the gateway, from this machine. Then no agent has a strict box
	// unless its settings say so.
	Alone bool
	// DataSetting and CwdSetting are how a person chooses another Data and another workspace, such as --data.
	DataSetting, CwdSetting string
}

// Kept are the files and directories that no agent may read or write: the data directory, the
// configuration, and the files with secrets.
func (g Gateway) Kept() []string {
	all := slices.Concat(g.SecretFiles, g.Closed)
	if g.Data != "" {
		all = append(all, g.Data)
	}
	return all
}

// Complete fills in what the hub must keep from agents, and what the prompts of one principal may hold.
func (g Gateway) Complete(o session.Options) session.Options {
	o.Closed = slices.Concat(o.Closed, g.Kept())
	o.MaxPromptBytes, o.MaxHeldBytes = cmp.Or(o.MaxPromptBytes, MemoryShare()), cmp.Or(o.MaxHeldBytes, MemoryShare())
	return o
}

// Agent is what is said of one agent.
type Agent struct {
	// Kind is the adapter.
	Kind agent.Adapter
	// Settings are the agent's own. Those of the preset come in front of them, and Environ is made.
	Settings agent.Settings
	// Env are variables of the agent's processes. PassEnv names variables of the gateway's own
	// environment that they get too.
	Env     map[string]string
	PassEnv []string
	// AllowBypass lets an agent run that acts without asking.
	AllowBypass bool
	// Cwd is the directory that the agent works in. Shared says that nobody has chosen it for this
	// agent, so that an agent that needs no files has none.
	Cwd    string
	Shared bool
	// Policy is permission.Default() if nil.
	Policy    *permission.Policy
	Workspace spaces.Form
	// State is that of session.Agent; "": shared where the gateway starts no process, else that of the machine.
	State session.AgentState
	// Box has the agent's own form if it has none: strict where its adapter was tried in it, unless the
	// gateway is Alone; else guard.
	Box box.Setting
	// User names the user of the system as whom the processes run; "" is the gateway's own.
	User string
	// Egress are the hosts that the agent's processes may reach. Nil is no limit.
	Egress []string
	// EgressAsk has the policy, or a person, decide about other hosts.
	EgressAsk bool

	user   *box.User
	preset agent.Preset
}

// Refusal says why a gateway cannot have an agent as it is set.
type Refusal struct {
	// Agent is the agent's name, and Key the key of its settings that is wrong, or "".
	Agent, Key string
	// Sentence goes on after the key: "is 3: write 1 or 2".
	Sentence string
}

// Error implements error.
func (r *Refusal) Error() string { return r.At() + " " + r.Sentence }

// At is the place in a configuration, such as agents.claude.args.
func (r *Refusal) At() string { return strings.TrimSuffix("agents."+r.Agent+"."+r.Key, ".") }

func (a Agent) refuse(key, format string, args ...any) error {
	return &Refusal{a.Settings.Name, key, fmt.Sprintf(format, args...)}
}

// Settle fills in the settings of one agent: those of the preset, and the environment of its processes.
// ours is the environment of this process.
func (g Gateway) Settle(a Agent, ours []string) (Agent, error) {
	a.Settings.Environ = nil
	a = a.known()
	if a.User != "" {
		var err error
		if a.user, err = box.FindUser(a.User); err != nil {
			return a, a.refuse("user", "%v", err)
		}
	}
	a.Settings.Command = cmp.Or(a.Settings.Command, a.preset.Command)
	a.Settings.Args = slices.Concat(a.preset.Args, a.Settings.Args)
	a.Settings.AllowBypass = a.AllowBypass
	return g.process(a, ours)
}

// known finds the preset. An agent with a command is neither in process nor harmless.
func (a Agent) known() Agent {
	if i := slices.IndexFunc(a.Kind.Presets, func(p agent.Preset) bool { return p.Name == a.Settings.Preset }); i >= 0 {
		a.preset = a.Kind.Presets[i]
	}
	if a.Settings.Command != "" {
		a.Kind.InProcess, a.Kind.Harmless = false, false
	}
	return a
}

// process decides on the processes of an agent, also of one whose Runtime was made elsewhere.
func (g Gateway) process(a Agent, ours []string) (_ Agent, err error) {
	if a.Settings.Environ == nil {
		a.Settings.Environ, err = g.environ(a, ours)
	}
	return a, err
}

// Make makes one agent, and returns what it is made of, too.
func (g Gateway) Make(a Agent, ours []string) (made session.Agent, _ Agent, err error) {
	if a, err = g.Settle(a, ours); err == nil {
		err = a.asks()
	}
	if err != nil {
		return made, a, err
	}
	runtime, err := a.Kind.Make(a.Settings)
	if wrong, is := errors.AsType[*agent.SettingError](err); is {
		return made, a, a.refuse(wrong.Key, "%s", wrong.Sentence)
	}
	if err != nil {
		return made, a, a.refuse("", "cannot be made: %v", err)
	}
	made = session.Agent{Runtime: runtime, Cwd: a.Cwd, Model: a.Settings.Model, Options: a.Settings.Options, Workspace: a.Workspace, Box: a.Box, User: a.user, Egress: a.Egress, EgressAsk: a.EgressAsk, State: a.State, Policy: permission.Default()}
	if a.Policy != nil {
		made.Policy = *a.Policy
	}
	made, err = g.complete(a, made)
	return made, a, err
}
