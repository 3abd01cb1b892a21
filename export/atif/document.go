package atif

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the form of a trajectory, by ATIF 1.7, for both ways. Other programs differ in what
// they write, so all is decoded that has a clear meaning, also where ATIF does not allow it. Fields
// that Tributary neither writes nor reads are not here. The fields of extras are in the order of the alphabet.

type trajectory struct {
	SchemaVersion string        `json:"schema_version"`
	TrajectoryID  string        `json:"trajectory_id,omitempty"`
	SessionID     string        `json:"session_id,omitempty"`
	Agent         agent         `json:"agent"`
	Steps         []*step       `json:"steps"`
	Subagents     []*trajectory `json:"subagent_trajectories,omitempty"`
	Final         *finalMetrics `json:"final_metrics,omitempty"`
	Extra         own[about]    `json:"extra,omitzero"`
}

// about says what of the session is not in the trajectory.
type about struct {
	LeftOut []string `json:"left_out,omitempty"`
	Removed int      `json:"removed_turns,omitempty"`
}

type agent struct {
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	ModelName string         `json:"model_name,omitempty"`
	Tools     []tool         `json:"tool_definitions,omitempty"`
	Extra     map[string]any `json:"extra,omitempty"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// step is a step. Its message is a text, or a list of contents.
type step struct {
	StepID      own[int]        `json:"step_id"`
	Timestamp   string          `json:"timestamp"`
	Source      string          `json:"source"`
	Model       string          `json:"model_name,omitempty"`
	Message     json.RawMessage `json:"message"`
	Reasoning   string          `json:"reasoning_content,omitempty"`
	Copied      bool            `json:"is_copied_context,omitempty"`
	ToolCalls   []toolCall      `json:"tool_calls,omitempty"`
	Observation observation     `json:"observation,omitzero"`
	Metrics     *metrics        `json:"metrics,omitempty"`
	ModelCalls  own[int]        `json:"llm_call_count,omitzero"`
	Extra       own[stepExtra]  `json:"extra,omitzero"`

	seq uint64
}

// stepExtra is what ATIF knows only as an extra: questions, notices, scores and events.
type stepExtra struct {
	By           string           `json:"by,omitempty"`
	Code         string           `json:"code,omitempty"`
	Events       []map[string]any `json:"events,omitempty"`
	Files        []map[string]any `json:"files,omitempty"`
	FinishReason string           `json:"finish_reason,omitempty"`
	Kind         string           `json:"kind,omitempty"`
	Name         string           `json:"name,omitempty"`
	Questions    []question       `json:"questions,omitempty"`
	Scores       []score          `json:"scores,omitempty"`
	Stop         *stop            `json:"stop,omitempty"`
	UsageScope   string           `json:"usage_scope,omitempty"`
}

type content struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
}

type source struct {
	MediaType string `json:"media_type"`
	Path      string `json:"path"`
}

type toolCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
	Extra     own[callExtra]  `json:"extra,omitzero"`
}

type callExtra struct {
	InputText   string           `json:"input_text,omitempty"`
	Kind        trace.ToolKind   `json:"kind"`
	Name        string           `json:"name,omitempty"`
	Permissions []request        `json:"permissions,omitempty"`
	Status      trace.ToolStatus `json:"status"`
	Title       string           `json:"title,omitempty"`
}

// request is a request for permission and its answer.
type request struct {
	AnsweredAt   string                  `json:"answered_at,omitempty"`
	AskedAt      string                  `json:"asked_at"`
	By           string                  `json:"by,omitempty"`
	DecidedBy    string                  `json:"decided_by,omitempty"`
	OptionKind   trace.OptionKind        `json:"option_kind,omitempty"`
	Outcome      trace.PermissionOutcome `json:"outcome,omitempty"`
	Reason       string                  `json:"reason,omitempty"`
	Rule         string                  `json:"rule,omitempty"`
	Title        string                  `json:"title,omitempty"`
	UpdatedInput json.RawMessage         `json:"updated_input,omitempty"`
	Via          trace.Via               `json:"via,omitempty"`
}

type question struct {
	By      string                  `json:"by,omitempty"`
	Choices []trace.Choice          `json:"choices,omitempty"`
	Header  string                  `json:"header,omitempty"`
	Outcome trace.PermissionOutcome `json:"outcome,omitempty"`
	Reason  string                  `json:"reason,omitempty"`
	Text    string                  `json:"text,omitempty"`
	Values  []string                `json:"values,omitempty"`
}

type score struct {
	At       string   `json:"at"`
	By       string   `json:"by,omitempty"`
	Case     string   `json:"case,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Name     string   `json:"name,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Score    *float64 `json:"score,omitempty"`
	Verdict  string   `json:"verdict,omitempty"`
}

type stop struct {
	Class   trace.Class   `json:"class,omitempty"`
	Error   string        `json:"error,omitempty"`
	Outcome trace.Outcome `json:"outcome"`
	Reason  string        `json:"reason,omitempty"`
}

type observation struct {
	Results []result `json:"results"`
}

type result struct {
	CallID    string          `json:"source_call_id"`
	Content   json.RawMessage `json:"content,omitempty"`
	Subagents references      `json:"subagent_trajectory_ref,omitempty"`
}

// reference is a reference to the trajectory of a sub-agent.
type reference struct {
	TrajectoryID string `json:"trajectory_id,omitempty"`
	SessionID    string `json:"session_id,omitempty"`
	Path         string `json:"trajectory_path,omitempty"`
}

// references are several, of which some programs write one without a list.
type references []reference

func (r *references) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		data = bytes.Join([][]byte{{'['}, data, {']'}}, nil)
	}
	return json.Unmarshal(data, (*[]reference)(r)) //nolint:wrapcheck // quote.JSONError words it
}

type metrics struct {
	Prompt     *count                `json:"prompt_tokens,omitempty"`
	Completion *count                `json:"completion_tokens,omitempty"`
	Cached     *count                `json:"cached_tokens,omitempty"`
	CostUSD    *float64              `json:"cost_usd,omitempty"`
	Extra      own[map[string]int64] `json:"extra,omitzero"`
}

type finalMetrics struct {
	Prompt     *count   `json:"total_prompt_tokens,omitempty"`
	Completion *count   `json:"total_completion_tokens,omitempty"`
	Cached     *count   `json:"total_cached_tokens,omitempty"`
	CostUSD    *float64 `json:"total_cost_usd,omitempty"`
	Steps      own[int] `json:"total_steps"`
}

// add adds the figures of one step.
func (f *finalMetrics) add(m *metrics) {
	plus(&f.Prompt, m.Prompt)
	plus(&f.Completion, m.Completion)
	plus(&f.Cached, m.Cached)
	plus(&f.CostUSD, m.CostUSD)
}

func plus[N count | float64](sum **N, more *N) {
	if more != nil {
		n := orZero(*sum) + *more
		*sum = &n
	}
}

func orZero[N count | float64](n *N) N {
	if n == nil {
		return 0
	}
	return *n
}

// own is what Tributary writes. That of another program can be anything, and is nothing if it has
// another form.
type own[T any] struct{ v T }

// UnmarshalJSON implements json.Unmarshaler.
func (o *own[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		o.v = v
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o own[T]) MarshalJSON() ([]byte, error) { return encode(o.v) }

// count is a number of tokens, which some programs write as 10.0.
type count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(data []byte) error {
	var n float64
	if err := json.Unmarshal(data, &n); err != nil || n != math.Trunc(n) {
		return fmt.Errorf("a count of tokens is %s: write a whole number", data)
	}
	*c = count(max(-1, min(n, 1<<50))) // so that no sum overflows
	return nil
}

// encode is the JSON of a value, without a newline behind.
func encode(v any) ([]byte, error) {
	text, err := quote.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write a trajectory: %w", err)
	}
	return text, nil
}

// raw is the JSON of texts and contents, which always can be.
func raw(v any) json.RawMessage {
	out, _ := encode(v)
	return out
}

// parse decodes a trajectory, whose errors are sentences.
func parse(r io.Reader) (t trajectory, data []byte, err error) {
	if data, err = io.ReadAll(r); err != nil {
		return t, nil, fmt.Errorf("the trajectory cannot be read: %w", err)
	}
	switch err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &t); {
	case err != nil:
		return t, nil, fmt.Errorf("this is no trajectory in ATIF: %w", quote.JSONError(err))
	case !strings.HasPrefix(t.SchemaVersion, "ATIF-v1."):
		return t, nil, fmt.Errorf("this is no trajectory in ATIF 1: its schema_version is %q", t.SchemaVersion)
	}
	if t.tidy(); len(t.Steps) == 0 {
		return t, nil, errors.New("there is nothing in the trajectory: it has no steps")
	}
	return t, data, nil
}

// tidy removes what is null.
func (t *trajectory) tidy() {
	t.Steps = slices.DeleteFunc(t.Steps, func(s *step) bool { return s == nil })
	t.Subagents = slices.DeleteFunc(t.Subagents, func(sub *trajectory) bool { return sub == nil })
	for _, sub := range t.Subagents {
		sub.tidy()
	}
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
