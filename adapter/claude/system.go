package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// system is what a line about the agent's state may hold.
type system struct {
	Subtype string `json:"subtype"`

	// init
	Version string `json:"claude_code_version"`
	Model   string `json:"model"`
	Tools   raw    `json:"tools"`

	// status
	Status         string `json:"status"`
	PermissionMode string `json:"permissionMode"`

	// api_retry
	Attempt     int     `json:"attempt"`
	MaxRetries  int     `json:"max_retries"`
	RetryDelay  float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"`
	Error       string  `json:"error"` // also of auth_status

	// task_started, task_progress, task_notification
	TaskID      string `json:"task_id"`
	ToolUseID   string `json:"tool_use_id"`
	Description string `json:"description"`
	Summary     string `json:"summary"`

	// hook_response
	HookName string `json:"hook_name"`
	Outcome  string `json:"outcome"`
	Stderr   string `json:"stderr"`

	// tool_progress
	ToolName string  `json:"tool_name"`
	Elapsed  float64 `json:"elapsed_time_seconds"`

	// session_writes_lost
	ErrorCode string   `json:"error_code"`
	Lost      []string `json:"lost"`

	// rate_limit_event
	Limit struct {
		Status string `json:"status"`
		Type   string `json:"rateLimitType"`
	} `json:"rate_limit_info"`
}

// system takes a line about the agent's state.
func (d *Decoder) system(l line, data raw, t agent.Turns) error {
	agentkit.Touch(t)
	if l.Subtype == "thinking_tokens" { // many, and nothing worth keeping
		return nil
	}
	var s system
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("claude: a %s line that is not of its protocol was skipped: %w", cmp.Or(l.Subtype, l.Type), err)
	}
	switch cmp.Or(l.Subtype, l.Type) {
	case "init":
		d.introduced(s, t)
		d.newcomer(t)
	case "status":
		d.status(s, t)
	case "api_retry":
		d.need(t) // there is a request, so there is a turn
		agentkit.Say(t, trace.Notice("retry", s.retry()))
	case "compact_boundary":
		agentkit.Say(t, trace.Notice("compacted", "The agent has compacted the conversation to make room."))
	case "task_started", "task_progress", "task_notification": // which says more than task_updated
		d.task(s, t)
	case "hook_response":
		if s.Outcome == "error" {
			agentkit.Say(t, trace.Error{Code: "hook", Message: cmp.Or(brief(s.Stderr), "The hook "+s.HookName+" failed.")})
		}
	case "tool_progress":
		if c := d.current(t); c != nil {
			c.b.Emit(trace.Status{State: trace.StateToolCalling, Detail: fmt.Sprintf("%s has been running for %.0f s", s.ToolName, s.Elapsed)})
		}
	case "rate_limit_event":
		if s.Limit.Status == "rejected" {
			agentkit.Say(t, trace.Error{Code: "rate_limit", Message: "The account has reached its rate limit (" + cmp.Or(s.Limit.Type, "unknown") + ")."})
		}
	case "session_writes_lost":
		agentkit.Say(t, trace.Error{Code: s.Subtype, Message: s.unsaved()})
	case "auth_status":
		if s.Error != "" {
			agentkit.Say(t, trace.Error{Code: "auth", Message: s.Error})
		}
	}
	return nil
}

// newcomer takes the line that comes before every turn. A turn in which only
// sub-agents have spoken gives way to a prompt that waits.
func (d *Decoder) newcomer(t agent.Turns) {
	c := d.current(t)
	if c == nil {
		return
	}
	if !c.prompt && !c.began && len(d.waiting) > 0 {
		d.forget(c)
		c.b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
		d.need(t)
	}
}

func (d *Decoder) status(s system, t agent.Turns) {
	d.works(s.PermissionMode, t)
	c := d.current(t)
	if c == nil && s.Status == "requesting" && !d.prompted {
		c = d.need(t) // the prompt is not in the recording
	}
	if c == nil {
		return
	}
	if s.Status == "requesting" {
		c.b.Emit(trace.Status{State: trace.StateThinking})
	} else if s.Status != "" {
		c.b.Emit(trace.Status{State: trace.StateThinking, Detail: s.Status})
	}
}

// modeSet takes the answer to a request for another mode. The mode in effect may be another than the one that
// was asked for. An older Claude Code does not name the mode.
func (d *Decoder) modeSet(answer raw, t agent.Turns) {
	var s struct{ Mode string }
	if json.Unmarshal(answer, &s) == nil {
		d.works(s.Mode, t)
	}
}

// works notes the mode in which the agent works now, if that is news.
func (d *Decoder) works(mode string, t agent.Turns) {
	if mode != "" && mode != d.mode {
		d.mode = mode
		t.Note(trace.CurrentMode(mode))
	}
}

// unsaved says what Claude Code could not write.
func (s system) unsaved() string {
	what, then := "its settings", ""
	if len(s.Lost) == 0 || slices.Contains(s.Lost, "transcript") {
		what, then = "all of the conversation", ", and a resumed session may miss a part of it"
	}
	why := map[string]string{"ENOSPC": "the disk is full", "EDQUOT": "the disk quota is used up"}[s.ErrorCode]
	return fmt.Sprintf("Claude Code could not save %s (%s)%s: free some space on the disk of its home directory.", what, cmp.Or(why, s.ErrorCode, "the disk refuses it"), then)
}

func (s system) retry() string {
	cause := cmp.Or(s.Error, "an error")
	if s.ErrorStatus > 0 {
		cause = fmt.Sprintf("%s (HTTP %d)", cause, s.ErrorStatus)
	}
	return fmt.Sprintf("The model's provider answered with %s; trying again in %.1f s (%d of %d).", cause, s.RetryDelay/1000, s.Attempt, s.MaxRetries)
}
