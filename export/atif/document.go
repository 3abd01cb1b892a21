package atif

import "encoding/json"

// This file has the form of a trajectory, by ATIF 1.7. Fields that Tributary never writes are
// not here.

type trajectory struct {
	SchemaVersion string        `json:"schema_version"`
	TrajectoryID  string        `json:"trajectory_id,omitempty"`
	SessionID     string        `json:"session_id,omitempty"`
	Agent         agent         `json:"agent"`
	Steps         []*step       `json:"steps"`
	Subagents     []*trajectory `json:"subagent_trajectories,omitempty"`
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
	StepID      int            `json:"step_id"`
	Timestamp   string         `json:"timestamp"`
	Source      string         `json:"source"`
	Model       string         `json:"model_name,omitempty"`
	Message     any            `json:"message"`
	Reasoning   string         `json:"reasoning_content,omitempty"`
	ToolCalls   []toolCall     `json:"tool_calls,omitempty"`
	Observation *observation   `json:"observation,omitempty"`
	Metrics     *metrics       `json:"metrics,omitempty"`
	ModelCalls  int            `json:"llm_call_count,omitempty"`
	Extra       map[string]any `json:"extra,omitempty"`

	seq uint64
}

func (s *step) extra(key string, value any) {
	if s.Extra == nil {
		s.Extra = map[string]any{}
	}
	s.Extra[key] = value
}

// more adds to a list among the extras.
func (s *step) more(key string, value any) {
	list, _ := s.Extra[key].([]any)
	s.extra(key, append(list, value))
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
	Extra     map[string]any  `json:"extra,omitempty"`
}

type observation struct {
	Results []result `json:"results"`
}

type result struct {
	CallID    string      `json:"source_call_id"`
	Content   *string     `json:"content,omitempty"`
	Subagents []reference `json:"subagent_trajectory_ref,omitempty"`
}

type reference struct {
	TrajectoryID string `json:"trajectory_id"`
}

type metrics struct {
	Prompt     *int64         `json:"prompt_tokens,omitempty"`
	Completion *int64         `json:"completion_tokens,omitempty"`
	Cached     *int64         `json:"cached_tokens,omitempty"`
	CostUSD    *float64       `json:"cost_usd,omitempty"`
	Extra      map[string]any `json:"extra,omitempty"`
}

type finalMetrics struct {
	Prompt     *int64   `json:"total_prompt_tokens,omitempty"`
	Completion *int64   `json:"total_completion_tokens,omitempty"`
	Cached     *int64   `json:"total_cached_tokens,omitempty"`
	CostUSD    *float64 `json:"total_cost_usd,omitempty"`
	Steps      int      `json:"total_steps"`
}

// add adds the figures of one step.
func (f *finalMetrics) add(m *metrics) {
	for _, sum := range []struct {
		to   **int64
		more *int64
	}{{&f.Prompt, m.Prompt}, {&f.Completion, m.Completion}, {&f.Cached, m.Cached}} {
		if sum.more != nil {
			*sum.to = plus(*sum.to, *sum.more)
		}
	}
	if m.CostUSD != nil {
		f.CostUSD = plus(f.CostUSD, *m.CostUSD)
	}
}

func plus[N int64 | float64](sum *N, more N) *N {
	if sum != nil {
		more += *sum
	}
	return &more
}
