package config

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/internal/yamlfile"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// Config is what a tributary.yaml says.
type Config struct {
	// Listen is host:port; port 0 is any free one.
	Listen string `yaml:"listen"`
	// MetricsListen is host:port of a further address, which answers GET /metrics without a token; "" is none.
	MetricsListen string `yaml:"metrics_listen"`
	// PublicURL is the address that people open, where a proxy stands in front.
	PublicURL string `yaml:"public_url"`
	// TrustedProxies are the addresses and networks of proxies.
	TrustedProxies []string `yaml:"trusted_proxies"`
	TLS            *TLS     `yaml:"tls"`
	// Data is the data directory.
	Data string `yaml:"data" file:"path"`
	// DB is the URL of a PostgreSQL database; "" is SQLite in the data directory.
	DB           string   `yaml:"db"`
	Cluster      *Cluster `yaml:"cluster"`
	Fsync        Fsync    `yaml:"fsync"`
	Backup       *Backup  `yaml:"backup"`
	DefaultAgent string   `yaml:"default_agent"`
	// AgentUser is the User of every agent with processes that names none.
	AgentUser string `yaml:"agent_user"`
	Cwd       string `yaml:"cwd" file:"path"`
	// Workspaces is the directory for the workspaces of sessions; "" is beside the data directory.
	Workspaces string   `yaml:"workspaces" file:"path"`
	LogLevel   LogLevel `yaml:"log_level"`
	// App is the URL of an app whose pages the gateway serves; "" is the gateway's own page.
	App string `yaml:"app"`
	// Widget says which other pages show the chat.
	Widget   Widget           `yaml:"widget"`
	Auth     Auth             `yaml:"auth"`
	Sessions Sessions         `yaml:"sessions"`
	Limits   Limits           `yaml:"limits"`
	Stream   Stream           `yaml:"stream"`
	Agents   map[string]Agent `yaml:"agents"`
	// Exporters are receivers of spans, by their names.
	Exporters map[string]Exporter `yaml:"exporters"`

	file  string
	lines yamlfile.Lines
}

// Fault is something in a configuration that cannot be meant.
type Fault = yamlfile.Fault

// Fault returns an error about the value at a path such as agents.claude.model,
// which begins with that path and names the line it stands on.
func (c Config) Fault(path, format string, args ...any) error {
	return c.lines.Fault(path, format, args...)
}

// Auth says who may use the gateway.
type Auth struct {
	Mode access.Mode `yaml:"mode"`
	JWT  *JWT        `yaml:"jwt"`
	OIDC *OIDC       `yaml:"oidc"`
	// SignInLifetime is how long a sign-in of the page lasts.
	SignInLifetime time.Duration `yaml:"sign_in_lifetime"`
	Tokens         []Token       `yaml:"tokens"`
	// AdminToken says whether there is the admin token of the first start.
	AdminToken AdminToken `yaml:"admin_token"`
	// PassThrough names the agent whose server judges tokens that nobody here knows.
	PassThrough string `yaml:"pass_through"`
	// Sessions says whose the sessions are: everybody's, or who made them.
	Sessions Sharing `yaml:"sessions"`
	// ForeignSession is the status for a session of somebody else's.
	ForeignSession int      `yaml:"foreign_session"`
	AllowHosts     []string `yaml:"allow_hosts"`
	AllowOrigins   []string `yaml:"allow_origins"`
	// Groups are lists of people, by the names that their tokens have.
	Groups map[string][]string `yaml:"groups"`
	// Approver says who may answer permission requests; nil: admins.
	Approver []access.Who `yaml:"approver"`
}

// Token is a further token beside the minted one. The token itself stands in an
// environment variable or a file, never in the configuration.
type Token struct {
	Name      string      `yaml:"name"`
	TokenEnv  string      `yaml:"token_env"`
	TokenFile string      `yaml:"token_file" file:"secret"`
	Role      access.Role `yaml:"role"`
}

// JWT is access.JWT.
type JWT struct {
	KeyFile      string                 `yaml:"key_file" file:"secret"`
	KeyEnv       string                 `yaml:"key_env"`
	SecretFile   string                 `yaml:"secret_file" file:"secret"`
	SecretEnv    string                 `yaml:"secret_env"`
	JWKSURL      string                 `yaml:"jwks_url"`
	Issuer       string                 `yaml:"issuer"`
	Audience     []string               `yaml:"audience"`
	Algorithms   []string               `yaml:"algorithms"`
	Leeway       time.Duration          `yaml:"leeway"`
	IDClaim      string                 `yaml:"id_claim"`
	NameClaim    string                 `yaml:"name_claim"`
	RoleClaim    string                 `yaml:"role_claim"`
	Roles        map[string]access.Role `yaml:"roles"`
	DefaultRole  access.Role            `yaml:"default_role"`
	GroupClaim   string                 `yaml:"group_claim"`
	SessionClaim string                 `yaml:"session_claim"`
}

// Sharing says whose the sessions are.
type Sharing string

// The ways to share sessions.
const (
	Shared  Sharing = "shared"  // for all users, by their roles in the gateway
	Private Sharing = "private" // for the creator of a session and the people they invite
)

// ToolOutput is the treatment of tool outputs that clients send by themselves.
type ToolOutput string

// The treatments.
const (
	IgnoreToolOutput ToolOutput = "ignore"
	RejectToolOutput ToolOutput = "reject"
)

// Sessions are the rules of session.Options.
type Sessions struct {
	OnDisconnect session.OnDisconnect `yaml:"on_disconnect"`
	Grace        time.Duration        `yaml:"grace"`
	GraceLimit   time.Duration        `yaml:"grace_limit"`
	Busy         session.Busy         `yaml:"busy"`
	Approval     session.Approval     `yaml:"approval"`
	HoldLimit    time.Duration        `yaml:"hold_limit"`
	AnswerLimit  time.Duration        `yaml:"answer_limit"`
	IdleLimit    time.Duration        `yaml:"idle_limit"`
	StopPatience time.Duration        `yaml:"stop_patience"`
	// Drain is how long running turns may take to finish when the gateway stops.
	Drain      time.Duration `yaml:"drain"`
	AgentIdle  time.Duration `yaml:"agent_idle"`
	EvictAfter time.Duration `yaml:"evict_after"`
	MaxAgents  int           `yaml:"max_agents"`
	AgentShare int           `yaml:"agent_share"`
	MaxQueue   int           `yaml:"max_queue"`
	Replay     time.Duration `yaml:"replay"`
	// ClientToolOutput is for outputs of tools that the client says it has run.
	ClientToolOutput ToolOutput `yaml:"client_tool_output"`
}

// Stream says how streams are written.
type Stream struct {
	EventLines   *bool         `yaml:"event_lines"`
	Keepalive    time.Duration `yaml:"keepalive"`
	WriteTimeout time.Duration `yaml:"write_timeout"`
	Compat       Compat        `yaml:"compat"`
	Subagents    Subagents     `yaml:"subagents"`
	// DomainEvents lists the events of the agent's world that are shown.
	DomainEvents []string `yaml:"domain_events"`
	// Client is the profile of clients that name none.
	Client string `yaml:"client"`
}

// Agent is one configured agent.
type Agent struct {
	// Adapter names the adapter or one of its presets; without it the agent's own name
	// does.
	Adapter string `yaml:"adapter"`
	// Enabled is false for an agent that is not offered.
	Enabled *bool `yaml:"enabled"`
	// Roles say who may use the agent; nil: everybody who may prompt.
	Roles   []access.Who      `yaml:"roles"`
	Command string            `yaml:"command" file:"program"`
	Args    []string          `yaml:"args"`
	Env     map[string]string `yaml:"env"`
	// PassEnv names variables of the gateway's environment that the agent gets too.
	PassEnv []string `yaml:"pass_env"`
	// AllowBypass lets arguments through that switch the agent's permission requests off.
	AllowBypass bool   `yaml:"allow_bypass"`
	Model       string `yaml:"model"`
	Cwd         string `yaml:"cwd" file:"path"`
	// Workspace says whether each session has a workspace of its own; "" is shared.
	Workspace spaces.Form        `yaml:"workspace"`
	Policy    *permission.Policy `yaml:"policy"`
	// Box closes files to the processes of the agent.
	Box box.Setting `yaml:"box"`
	// User is the user of the system as whom the agent's processes run; "" is the gateway's own.
	User string `yaml:"user"`
	// Egress are the hosts that the processes may reach; nil: all.
	Egress []string `yaml:"egress"`
	// EgressAsk has the policy or a person decide about other hosts.
	EgressAsk bool                      `yaml:"egress_ask"`
	ToolKinds map[string]trace.ToolKind `yaml:"tool_kinds"`
	// State says where the agent keeps what it knows of its sessions; "" is node where the gateway starts
	// it as a process, else shared.
	State session.AgentState `yaml:"state"`

	// URL is the address of an agent that the gateway does not start. TokenEnv and
	// TokenFile say where its token is.
	URL       string `yaml:"url"`
	TokenEnv  string `yaml:"token_env"`
	TokenFile string `yaml:"token_file" file:"secret"`
	// Options are the settings that only the adapter knows, as JSON. Their keys that end
	// in _env name environment variables with secrets, and those in _file such files.
	Options json.RawMessage `yaml:"options"`
}

// Compat names a specification that streams follow where it and the stock clients disagree.
type Compat string

// CompatRFC is the Agent Ops RFC for an AI SDK adapter.
const CompatRFC Compat = "rfc"

// Subagents says how what sub-agents do is shown.
type Subagents string

// The ways to show a sub-agent.
const (
	SubagentsPart        Subagents = "part"
	SubagentsInline      Subagents = "inline"
	SubagentsPreliminary Subagents = "preliminary"
	SubagentsHidden      Subagents = "hidden"
)

// LogLevel is the least severe level that is logged.
type LogLevel string

// Slog returns the level; the default is info.
func (l LogLevel) Slog() slog.Level {
	switch l {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
