package reader

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file has what a turn is made of.

// Untold is the code of a notice in an imported session which says that the file does not have all
// that happened.
const Untold = "untold"

// Turn is one turn that has stopped.
type Turn struct {
	Session, ID string
	// Seq is the number of the turn's first record.
	Seq        uint64
	Start, End time.Time
	// Began is when the turn's first message began, after other turns; zero if none did.
	Began time.Time
	// Agent is what was known of the agent when the turn stopped.
	Agent trace.AgentInfo
	// Removed says that a rewind has removed the turn from the history. Only [Survey] knows.
	Removed bool
	Prompts []*Prompt
	Stop    trace.Stop
	// StopRecord is the id of the record of the stop.
	StopRecord string
	// Actors are the agent, and then its sub-agents in the order in which they began.
	Actors []*Actor
	// Calls are those of all actors, in the order in which they began. A call that goes on from
	// an earlier turn on record is in Continued instead, and a part of the call there.
	Calls, Continued []*Call
	Requests         []*Request
	Questions        []*Question
	// Notes are what else was said or happened, in its order.
	Notes []*Note
	// Rewinds are the ids of the messages from which on the turn has removed the history.
	Rewinds []string
	// Scores are what graders found in the turn later, the oldest first. Only [Survey] knows.
	Scores []*Score
	// Timing is what the gateway did before the agent had the prompt; nil if it is not on record.
	Timing *trace.Timing
	// ContextUsed and ContextSize are the newest figures of the agent, in tokens; 0 is unknown.
	ContextUsed, ContextSize int64
}

// Main is the agent itself, also if it said nothing.
func (t *Turn) Main() *Actor { return t.Actors[0] }

// Prompt is what a user asked. A prompt that was changed while it waited is there once.
type Prompt struct {
	trace.Prompt

	Seq     uint64
	Time    time.Time
	Removed bool
}

// Actor is the agent, or one of its sub-agents, in one turn.
type Actor struct {
	ID trace.Actor
	// Name is what the agent calls a sub-agent, and empty if nobody knows.
	Name string
	// Call is the call that started the sub-agent; nil if none of this turn did.
	Call *Call
	// Seq, Start and End are of the actor's first and last record.
	Seq        uint64
	Start, End time.Time
	Steps      []*Step

	open     *Step
	ready    time.Time // since when the next call of the model can have been under way
	answered bool      // a call has its result, and nothing was said since
	counted  bool      // the open step has its usage
}

// Subagent reports whether the actor is one.
func (a *Actor) Subagent() bool { return a.ID != trace.Agent }

// Step is one call of a model: what the agent's step records bracket. Sub-agents have no such
// records, and their steps are Derived: a new one begins after usage, and after results.
type Step struct {
	// ID is that of the record that began the step, and Seq its number.
	ID             string
	Seq            uint64
	Name, NativeID string
	// Finish is the agent's word for why the model stopped writing.
	Finish           string
	Model            string
	Derived, Removed bool
	// Asked is when the model was asked at the earliest: after what the step's first part had
	// to wait for. First and Last are of its parts.
	Asked, First, Last time.Time
	Parts              []*Part
	// Usage is what this step is charged with, nil if nothing is known. The usages of a turn's
	// steps add up to that of the turn: see [Usage].
	Usage *Usage
}

// Part is a text, a reasoning, or a call. Its place is where it began. Parts that a retry has
// replaced are left out.
type Part struct {
	Seq     uint64
	Time    time.Time
	Text    string
	Thought bool
	Call    *Call // nil for text

	id   string
	done bool
}

// Usage is what a step is charged with. From says where the tokens come from: "step" is the agent's
// word for this step. "turn" and "session-difference" are figures of the whole turn, and "remainder"
// is what the steps do not explain of them, on one step of the turn. CostUSD is 0 on the
// other steps of a turn whose cost is known only as a whole.
type Usage struct {
	trace.Usage

	From string
	// Records are the ids of the records that tell it; none for a cost of 0 beside that of the turn.
	Records []string
}

// Call is a call of a tool, as it was at last.
type Call struct {
	trace.ToolCall

	Record     string // the id of the record that began it
	Seq        uint64
	Actor      *Actor
	Start, End time.Time
	Result     *trace.ToolResult // nil if the records have none
	// ResultRecord and ResultSeq are the id and the number of the result's record.
	ResultRecord string
	ResultSeq    uint64
	// ChangeRecord and ChangeSeq are the id and the number of the first change of a file by the call.
	ChangeRecord string
	ChangeSeq    uint64
	// Requests are those of all turns in which the call went on, if [Survey] has found them.
	Requests []*Request
	Sub      *Actor // the sub-agent that it started, if any
}

// Status is how the call ended. A call without a result was canceled.
func (c *Call) Status() trace.ToolStatus {
	if c.Result == nil {
		return trace.ToolCanceled
	}
	return c.Result.Status
}

// Text is what the call returned, with the error behind; empty without a result.
func (c *Call) Text() (text string) {
	if c.Result == nil {
		return ""
	}
	if r := c.Result; json.Unmarshal(r.Output, &text) != nil {
		text = string(r.Output)
	}
	if e := c.Result.Error; e != "" && e != text {
		text = strings.TrimPrefix(text+"\n"+e, "\n")
	}
	return text
}

// Request is a permission that was asked for, and the answer, nil if there is none.
type Request struct {
	trace.PermissionRequest

	Record     string // the id of the request's record
	Seq        uint64
	Start, End time.Time
	Actor      *Actor
	Call       *Call // nil if the turn has no such call
	Response   *trace.PermissionResponse
	// ResponseRecord and ResponseSeq are the id and the number of the answer's record.
	ResponseRecord string
	ResponseSeq    uint64
}

// Question is a question to the user, and the answer, nil if there is none.
type Question struct {
	trace.Question

	Record     string // the id of the question's record
	Seq        uint64
	Start, End time.Time
	Actor      *Actor
	Answer     *trace.Answer
}

// Note is an error, a notice, a plan, a change of a file, a source, a file, data of the
// conversation, or a message that is not the assistant's.
type Note struct {
	Record  string // the id of its record
	Seq     uint64
	Time    time.Time
	Actor   trace.Actor
	Removed bool
	Payload trace.Payload
}

// Score is what a grader found in a turn. No later one has replaced it.
type Score struct {
	trace.Score

	Record string // the id of its record
	Seq    uint64
	Time   time.Time
}
