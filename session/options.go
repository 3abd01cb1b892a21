package session

import (
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

// This file has the options of a hub.

// OnDisconnect says what becomes of a running turn when its last follower's
// connection is cut.
type OnDisconnect string

// The effects of a disconnect.
const (
	Grace  OnDisconnect = "grace"  // stop it after a while, unless somebody comes back
	Stop   OnDisconnect = "stop"   // stop it at once
	Detach OnDisconnect = "detach" // let it run
)

// Busy says what becomes of a prompt while a turn runs.
type Busy string

// The treatments of a prompt while a turn runs.
const (
	Queue     Busy = "queue"     // it waits
	Reject    Busy = "reject"    // it is refused
	Interrupt Busy = "interrupt" // it stops the running turn
)

// Approval says what becomes of those who follow a turn while somebody is asked.
type Approval string

// The ways of a turn's subscribers while a request waits.
const (
	Pause Approval = "pause" // they leave: the answer comes with their next request
	Hold  Approval = "hold"  // they stay for a while: it comes by a request of its own
)

// Agent is an agent that sessions can be made with.
type Agent struct {
	// Runtime opens the agent. Package agentset completes the other fields by it.
	Runtime agent.Runtime
	// Adapter names the agent's adapter for readers of the trace, such as claude. It may be empty.
	Adapter string
	Cwd     string
	Model   string
	Policy  permission.Policy
	// Options are the settings that only the agent's adapter knows, as JSON, or nil.
	Options json.RawMessage
	// Tools says to the policy what the input of a call means.
	Tools toolkind.Table
	// InProcess says that a session of this agent costs no process, so that it is
	// not counted among the MaxAgents.
	InProcess bool
	// Files says that the agent works with the files of Cwd, so that users may see their
	// names.
	Files bool
	// Workspace says whether new sessions work in workspaces of their own, made of Cwd; "" is
	// Shared: all work in Cwd.
	Workspace spaces.Form
	// Box closes files to the processes of the agent: Closed, and workspaces of other sessions. An
	// agent that is InProcess has one only if the form is set.
	Box box.Setting
	// User is the user of the system as whom the processes of the agent run; nil is the gateway's own.
	User *box.User
	// Egress are the hosts that the processes of the agent may reach, as egress.Parse reads them. Nil is no
	// limit.
	Egress []string
	// EgressAsk has the policy, or a person, decide about other hosts while a turn runs. Else they are refused.
	EgressAsk bool
	// State says where the agent keeps what it knows of its sessions; "" is StateShared.
	State AgentState
}

// Options configure a Hub. The zero value of each limit means its default.
type Options struct {
	Log    *eventlog.Log
	Agents map[string]Agent
	// Default names the agent of sessions that name none.
	Default string
	// Home is this gateway; the zero value if there are no others.
	Home Home

	OnDisconnect OnDisconnect
	Busy         Busy
	Approval     Approval
	// Timing puts on record when the gateway had what of each prompt, as trace.Timing.
	Timing bool
	// HoldLimit is how long those who follow are held (5 min); then they leave.
	HoldLimit time.Duration
	// AnswerLimit is how long a request or a question waits for its answer before it
	// expires (24 h).
	AnswerLimit time.Duration
	// GracePeriod is how long a turn that nobody follows any more goes on (5 s);
	// requests for the session extend it, to GraceLimit in all (15 s).
	GracePeriod, GraceLimit time.Duration
	// IdleLimit ends a turn whose agent has been silent for so long while no tool
	// ran and no answer was awaited (120 s).
	IdleLimit time.Duration
	// StopPatience is how long an agent may take to stop before its process is
	// ended (5 s).
	StopPatience time.Duration
	// AgentIdle closes an agent that had nothing to do for so long (5 min). The next
	// prompt opens the agent again, with its memory.
	AgentIdle time.Duration
	// EvictAfter is how long a session that nobody uses stays in memory after its agent
	// was closed (5 min). Its records stay.
	EvictAfter time.Duration
	// MaxAgents bounds the agents that are open at once (16).
	MaxAgents int
	// AgentShare bounds those of one person (half of MaxAgents, at least 1).
	AgentShare int
	// MaxQueue bounds the prompts that wait in one session (32).
	MaxQueue int
	// MaxPrompts bounds the prompts of one principal that run or wait, in all
	// sessions (1,000). Negative: no bound.
	MaxPrompts int
	// MaxPromptBytes bounds what the messages of these prompts weigh together (400 MB). An
	// agent has its message in memory while it works. Negative: no bound.
	MaxPromptBytes int64
	// MaxHeldBytes bounds what all turns together hold in memory: texts, thoughts and calls
	// without a result (400 MB). The turn that would hold more is ended. The first 1 MB of
	// each turn does not count. Negative: no bound.
	MaxHeldBytes int64
	// MaxTurnBytes bounds what one turn may put on record (256 MB), and
	// MaxTurnRecords how many records of it are kept (100,000). A turn that
	// reaches either is ended, and its agent stopped. Negative: no bound.
	MaxTurnBytes   int64
	MaxTurnRecords int
	// Replay is how long a turn that has ended is still given to a client that
	// asks to resume (60 s).
	Replay time.Duration
	// StateDir is handed to the agents for what must outlive a crash. One Hub at a time has it: a new one removes the
	// temporary files that the agents of the one before have left.
	StateDir string
	// Closed are files and directories that no agent may read or write, such as files with
	// secrets of the program. StateDir is one of them. They need not exist.
	Closed []string
	// Workspaces makes the workspaces of sessions that have their own; nil if no session has.
	Workspaces *spaces.Maker
	Logger     *slog.Logger
	// Meter takes what the agents count, by the name of the agent; nil: nobody does.
	Meter func(name string, c agent.Count)
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	defaultTo(&o.OnDisconnect, Grace)
	defaultTo(&o.Busy, Queue)
	defaultTo(&o.Approval, Pause)
	defaultTo(&o.HoldLimit, 5*time.Minute)
	defaultTo(&o.AnswerLimit, 24*time.Hour)
	defaultTo(&o.GracePeriod, 5*time.Second)
	defaultTo(&o.GraceLimit, 15*time.Second)
	defaultTo(&o.IdleLimit, 120*time.Second)
	defaultTo(&o.StopPatience, 5*time.Second)
	defaultTo(&o.AgentIdle, 5*time.Minute)
	defaultTo(&o.EvictAfter, 5*time.Minute)
	defaultTo(&o.MaxAgents, 16)
	defaultTo(&o.AgentShare, max(1, o.MaxAgents/2))
	defaultTo(&o.MaxQueue, 32)
	defaultTo(&o.MaxPrompts, 1000)
	defaultTo(&o.MaxPromptBytes, 400<<20)
	defaultTo(&o.MaxHeldBytes, 400<<20)
	defaultTo(&o.MaxTurnBytes, 256<<20)
	defaultTo(&o.MaxTurnRecords, 100_000)
	defaultTo(&o.Replay, 60*time.Second)
	if o.Closed = slices.Clone(o.Closed); o.StateDir != "" && !slices.Contains(o.Closed, o.StateDir) {
		o.Closed = append(o.Closed, o.StateDir)
	}
	defaultTo(&o.Logger, slog.New(slog.DiscardHandler))
	if o.Meter == nil {
		o.Meter = func(string, agent.Count) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func defaultTo[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
