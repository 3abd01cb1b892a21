package agent

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// Adapter describes a kind of agent to the program: which settings it takes, what it
// needs to run, and how its Runtime is made. The zero value of each field is the
// cautious one.
type Adapter struct {
	// Name is what a configuration writes as `adapter`. An agent of that name needs no
	// such key.
	Name string
	// Keys are the keys of an agent's configuration that the adapter takes. The keys
	// adapter, enabled, cwd, policy and roles belong to every agent and are not listed.
	// The others are command, args, env, pass_env, allow_bypass, model, tool_kinds, url,
	// token_env, token_file and options. [ProcessKeys] are those of a process.
	Keys []string
	// Needs names the key without which there is no such agent: url, command, or
	// "url or command". An adapter that needs nothing is an agent as it is.
	Needs string
	// Schemes are those of the addresses that the key url takes. Nil: http and https.
	Schemes []string
	// InProcess says that a session costs no process, so that it takes none of
	// sessions.max_agents. An agent with a command is neither in process nor harmless.
	InProcess bool
	// Harmless says that the agent runs no commands on this machine and touches no files
	// of it. Only a harmless agent is offered to several people without being named in the
	// configuration.
	Harmless bool
	// Files says that the agent works with the files of its workspace on this machine, unless
	// the setting url names a server that does. Users of such an agent may see the names
	// of the files. If the agent is Harmless, the configuration has to name the workspace.
	Files bool
	// KeepsClosed says that the agent reads nothing of Config.Closed without a request. The
	// program refuses a workspace with secrets for other agents that are not Harmless.
	KeepsClosed bool
	// Environ names the environment variables that the agent's process gets beside those
	// of every process: a name, or a beginning and *. A name behind ! is left out.
	Environ []string
	// Bypass are arguments and variables that switch the agent's permission requests off,
	// beside those that the program knows already. They are refused at start.
	Bypass []Bypass
	// Grants are files of the agent's own whose rules let it act without asking. The
	// program warns of them.
	Grants []Grant
	// Box is what the agent needs in a strict box. A preset has its own.
	Box Box
	// Presets are agents that this adapter runs by name.
	Presets []Preset
	// Tools returns the table of the agent's tools, by the name of the preset or "". Policies
	// judge by it. Nil: the table that package toolkind has for the adapter's name, if any.
	Tools func(preset string) toolkind.Table
	// New makes the Runtime of a configured agent. An error is one sentence; a
	// [SettingError] names the key. The program calls Make instead.
	New func(Settings) (Runtime, error)
	// Decoder makes a reader of recordings. Only Name, Preset and ToolKinds of the settings count,
	// and all of them may be empty. Nil where the agent has no protocol of its own.
	Decoder func(Settings) Decoder
}

// Make makes the Runtime of a configured agent by New. An address that the adapter cannot
// take is a [SettingError].
func (a Adapter) Make(s Settings) (Runtime, error) {
	schemes := a.Schemes
	if schemes == nil {
		schemes = []string{"http", "https"}
	}
	if at, err := url.Parse(s.URL); s.URL != "" && (err != nil || at.Host == "" || !slices.Contains(schemes, at.Scheme)) {
		return nil, WrongSetting("url", "is %.200q: write the address of a server, which begins with %s://", address.Public(s.URL), strings.Join(schemes, ":// or "))
	}
	return a.New(s)
}

// Describer is implemented by a Runtime that tells what it is. A program that makes the Runtime itself
// then has to repeat none of it: package session/agentset reads all that makes the agent safe from here.
type Describer interface {
	// Describe returns the kind of agent, and the settings of the Runtime that say how its
	// processes start and where its secrets are: Preset, Command, Args, Environ, URL, TokenEnv,
	// TokenFile, and Options if they name secrets. Environ is nil if the Runtime has none.
	Describe() (Adapter, Settings)
}

// ProcessStarter is implemented by a Runtime that starts processes.
type ProcessStarter interface {
	// WithProcess returns the Runtime with what the gateway decides of its processes, which is Environ.
	WithProcess(s Settings) Runtime
}

// ProcessKeys returns the keys of an agent that is a process: its command, arguments and
// environment.
func ProcessKeys(more ...string) []string {
	return append([]string{"command", "args", "env", "pass_env", "allow_bypass"}, more...)
}

// Preset is an agent that an adapter runs by name, such as gemini by ACP.
type Preset struct {
	// Name is what a configuration writes in place of the adapter's name.
	Name string
	// Command and Args start the agent. Arguments of the configuration come after Args.
	Command string
	Args    []string
	// Install says how to get the agent, such as `npm install -g PACKAGE`.
	Install string
	// Environ adds to Adapter.Environ.
	Environ []string
	// Box is in place of Adapter.Box.
	Box Box
	// Grants add to Adapter.Grants.
	Grants []Grant
	// AsksNobody says that the agent has no permission requests: it runs every command
	// unasked. The program offers it only with `allow_bypass: true`.
	AsksNobody bool
}

// Bypass is an argument or a variable that switches permission requests off.
type Bypass struct {
	// Flag is an argument such as --yolo; Variable is the name of an environment variable.
	Flag, Variable string
	// Values are the values that count, with * for any text; nil: every value, and none.
	Values []string
	// Of are programs: the flag counts only behind a word that names one of them, since
	// other programs mean something else by it. Nil: always.
	Of []string
}

// Grant is a file whose rules let an agent act without asking.
type Grant struct {
	// Path begins with ~/ or is relative to the workspace.
	Path string
	// Pattern is a regular expression that such a rule matches.
	Pattern string
}

// Settings are what the configuration says of one agent.
type Settings struct {
	// Name is the agent's name in the configuration.
	Name string
	// Preset is the name of the adapter's preset, or "".
	Preset string
	// Command and Args are those of the configuration on top of the preset's.
	Command string
	Args    []string
	// Environ is the whole environment of the agent's processes, as KEY=VALUE. No variable
	// of the gateway's own is in it, and no secret.
	Environ []string
	Model   string
	// ToolKinds correct the adapter's table of tools; see toolkind.Table.With.
	ToolKinds map[string]trace.ToolKind
	URL       string
	// TokenEnv names an environment variable of the gateway, TokenFile a file.
	TokenEnv, TokenFile string
	// AllowBypass leaves the agent's own means in force by which it acts without asking.
	AllowBypass bool
	// Options are the settings that only this adapter knows; see [DecodeOptions]. Each
	// session gets them too, as Config.Options.
	Options json.RawMessage
}

// Token returns the value of the variable that TokenEnv names, and "" if it names none.
func (s Settings) Token() (string, error) {
	token := os.Getenv(s.TokenEnv)
	if s.TokenEnv != "" && token == "" {
		return "", WrongSetting("token_env", "names %s, and there is no such environment variable: set it", s.TokenEnv)
	}
	return token, nil
}

// SettingError is a setting that cannot be meant.
type SettingError struct {
	// Key is the key, such as url or options.lookup.
	Key string
	// Sentence goes on after the key: "is 3: write 1 or 2".
	Sentence string
}

// Error implements error.
func (e *SettingError) Error() string { return e.Key + " " + e.Sentence }

// WrongSetting returns a SettingError.
func WrongSetting(key, format string, args ...any) error {
	return &SettingError{key, fmt.Sprintf(format, args...)}
}

// Counts reports whether a value is one of those that are meant.
func (b Bypass) Counts(value string) bool {
	if b.Values == nil {
		return true
	}
	clean := strings.ToLower(strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(value))
	for _, pattern := range b.Values {
		if matched(strings.Split(strings.ToLower(pattern), "*"), clean) {
			return true
		}
	}
	return false
}

// matched reports whether the pieces stand in a text in their order, the first at its
// beginning and the last at its end.
func matched(pieces []string, text string) bool {
	if len(pieces) == 1 {
		return pieces[0] == text
	}
	text, ok := strings.CutPrefix(text, pieces[0])
	last := pieces[len(pieces)-1]
	for _, piece := range pieces[1 : len(pieces)-1] {
		var found bool
		_, text, found = strings.Cut(text, piece)
		ok = ok && found
	}
	return ok && strings.HasSuffix(text, last)
}
