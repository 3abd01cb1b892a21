package atif

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file decodes a trajectory that another program wrote. Programs differ in what they write, so it
// takes more than ATIF allows wherever the meaning is clear.

// stranger is what is read of a trajectory.
type stranger struct {
	SchemaVersion string      `json:"schema_version"`
	TrajectoryID  string      `json:"trajectory_id"`
	SessionID     string      `json:"session_id"`
	Agent         agent       `json:"agent"`
	Steps         []given     `json:"steps"`
	Subagents     []*stranger `json:"subagent_trajectories"`
	Final         struct {
		Prompt     count    `json:"total_prompt_tokens"`
		Completion count    `json:"total_completion_tokens"`
		Cached     count    `json:"total_cached_tokens"`
		CostUSD    *float64 `json:"total_cost_usd"`
	} `json:"final_metrics"`
	Extra own[struct {
		LeftOut []string `json:"left_out"`
	}] `json:"extra"`
}

type given struct {
	Timestamp   string          `json:"timestamp"`
	Source      string          `json:"source"`
	Model       string          `json:"model_name"`
	Message     json.RawMessage `json:"message"`
	Reasoning   string          `json:"reasoning_content"`
	Copied      bool            `json:"is_copied_context"`
	ToolCalls   []givenCall     `json:"tool_calls"`
	Observation struct {
		Results []givenResult `json:"results"`
	} `json:"observation"`
	Metrics *struct {
		Prompt     count    `json:"prompt_tokens"`
		Completion count    `json:"completion_tokens"`
		Cached     count    `json:"cached_tokens"`
		CostUSD    *float64 `json:"cost_usd"`
	} `json:"metrics"`
	Extra own[struct {
		Kind      string          `json:"kind"`
		Code      string          `json:"code"`
		Stop      *trace.Stop     `json:"stop"`
		Questions []givenQuestion `json:"questions"`
	}] `json:"extra"`
}

type givenCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
	Extra     own[struct {
		Kind        trace.ToolKind   `json:"kind"`
		Status      trace.ToolStatus `json:"status"`
		Name        string           `json:"name"`
		Title       string           `json:"title"`
		InputText   string           `json:"input_text"`
		Permissions []givenRequest   `json:"permissions"`
	}] `json:"extra"`
}

type givenResult struct {
	CallID    string          `json:"source_call_id"`
	Content   json.RawMessage `json:"content"`
	Subagents references      `json:"subagent_trajectory_ref"`
}

// givenRequest is a request for permission and its answer, as [Write] has them.
type givenRequest struct {
	Title     string `json:"title"`
	DecidedBy string `json:"decided_by"`
	trace.PermissionResponse
}

type givenQuestion struct {
	Header  string                  `json:"header"`
	Text    string                  `json:"text"`
	Choices []trace.Choice          `json:"choices"`
	Outcome trace.PermissionOutcome `json:"outcome"`
	Values  []string                `json:"values"`
	By      string                  `json:"by"`
	Reason  string                  `json:"reason"`
}

// own is what Tributary writes as an extra. That of another program can be anything, and is nothing
// if it has another form.
type own[T any] struct{ v T }

func (o *own[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		o.v = v
	}
	return nil
}

// count is a number of tokens, which some programs write as 10.0.
type count int64

func (c *count) UnmarshalJSON(data []byte) error {
	var n *float64
	err := json.Unmarshal(data, &n)
	if err == nil && n == nil {
		return nil
	}
	if err != nil || *n != math.Trunc(*n) {
		return fmt.Errorf("a count of tokens is %s: write a whole number", data)
	}
	*c = count(max(-1, min(*n, 1<<50))) // so that no sum overflows
	return nil
}

// referred is a reference to the trajectory of a sub-agent.
type referred struct {
	TrajectoryID string `json:"trajectory_id"`
	SessionID    string `json:"session_id"`
	Path         string `json:"trajectory_path"`
}

// references are several, of which some programs write one without a list.
type references []referred

func (r *references) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		data = bytes.Join([][]byte{{'['}, data, {']'}}, nil)
	}
	return json.Unmarshal(data, (*[]referred)(r)) //nolint:wrapcheck // quote.JSONError words it
}

// parse decodes a trajectory, whose errors are sentences.
func parse(r io.Reader) (t stranger, data []byte, err error) {
	if data, err = io.ReadAll(r); err != nil {
		return t, nil, fmt.Errorf("the trajectory cannot be read: %w", err)
	}
	switch err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &t); {
	case err != nil:
		return t, nil, fmt.Errorf("this is no trajectory in ATIF: %w", quote.JSONError(err))
	case !strings.HasPrefix(t.SchemaVersion, "ATIF-v1."):
		return t, nil, fmt.Errorf("this is no trajectory in ATIF 1: its schema_version is %q", t.SchemaVersion)
	case len(t.Steps) == 0:
		return t, nil, errors.New("there is nothing in the trajectory: it has no steps")
	}
	return t, data, nil
}

// contents are those of a message: a text, or a list.
func contents(v json.RawMessage) (all []content) {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return []content{{Type: "text", Text: text}}
	}
	_ = json.Unmarshal(v, &all) // else there is nothing
	return all
}

func textIn(v json.RawMessage) string {
	var all []string
	for _, c := range contents(v) {
		if c.Type == "text" {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// inputs are the parts of a prompt. A picture stays where it is.
func inputs(v json.RawMessage) (all []trace.InputPart) {
	for _, c := range contents(v) {
		if c.Source != nil {
			all = append(all, trace.InputPart{Type: trace.InputFile, MediaType: c.Source.MediaType, URL: c.Source.Path})
			continue
		}
		all = append(all, trace.InputPart{Type: trace.InputText, Text: c.Text})
	}
	return all
}

// input is what a tool was called with. Some programs write the object as a text.
func input(v json.RawMessage) json.RawMessage {
	var text string
	var object map[string]json.RawMessage
	if json.Unmarshal(v, &text) == nil && json.Unmarshal([]byte(text), &object) == nil {
		return json.RawMessage(text)
	}
	return v
}
