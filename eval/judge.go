package eval

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// Judge asks a model whether what it sees of a session fulfils a rubric. Package eval/judge has one.
// An error is one sentence, and says why there is no answer; the use counts also then.
type Judge interface {
	Judge(ctx context.Context, q JudgeQuestion) (JudgeAnswer, error)
}

// JudgeModel says which model is asked, and where.
type JudgeModel struct {
	Model    string    `yaml:"model"`
	Endpoint *Endpoint `yaml:"endpoint"`
}

// Endpoint is a server with OpenAI's chat completions.
type Endpoint struct {
	// URL is the base address, such as https://api.openai.com/v1, or that of the completions.
	URL string `yaml:"url"`
	// Key is env: and the name of the environment variable with the key; empty is none.
	Key string `yaml:"key"`
	// AllowHTTP allows an address with http on another machine.
	AllowHTTP bool `yaml:"allow_http"`
}

// JudgeQuestion is what a judge is asked.
type JudgeQuestion struct {
	JudgeModel

	Rubric string
	Seen   Seen
}

// JudgeAnswer is the judge's opinion. Score is from 0 to 1.
type JudgeAnswer struct {
	Score  float64
	Reason string
	Use    JudgeUse
}

// JudgeUse is what the judge took. It is no part of what the agent used.
type JudgeUse struct {
	// Calls are requests to the model that were answered, and Cached answers that were known.
	Calls  int `json:"calls"`
	Cached int `json:"cached,omitempty"`
	// InputTokens, OutputTokens and CostUSD are what the endpoint tells.
	InputTokens  int64    `json:"input_tokens,omitempty"`
	OutputTokens int64    `json:"output_tokens,omitempty"`
	CostUSD      *float64 `json:"cost_usd,omitempty"`
}

// Add adds what another answer took.
func (u *JudgeUse) Add(more JudgeUse) {
	u.Calls += more.Calls
	u.Cached += more.Cached
	u.InputTokens += more.InputTokens
	u.OutputTokens += more.OutputTokens
	if more.CostUSD != nil {
		sum := *more.CostUSD
		if u.CostUSD != nil {
			sum += *u.CostUSD
		}
		u.CostUSD = &sum
	}
}

// String is a sentence without its end.
func (u JudgeUse) String() string {
	text := fmt.Sprintf("%d asked for, %d known before", u.Calls, u.Cached)
	if u.InputTokens+u.OutputTokens > 0 {
		text += fmt.Sprintf(", %d tokens", u.InputTokens+u.OutputTokens)
	}
	if u.CostUSD != nil {
		text += fmt.Sprintf(", %.4f US dollars", *u.CostUSD)
	}
	return text
}

// Seen is what a judge sees of a session: no input and no output of a tool.
type Seen struct {
	// Prompts are the user's, and Output is the text that ended the last turn.
	Prompts []string `json:"prompts"`
	Output  string   `json:"final_output"`
	// Calls are the first and the last calls of tools, if there are too many; LeftOut are the others.
	Calls   []SeenCall `json:"tool_calls"`
	LeftOut int        `json:"tool_calls_left_out,omitempty"`
}

// SeenCall is a call of a tool. Status is empty if it has no result.
type SeenCall struct {
	Kind   trace.ToolKind   `json:"kind"`
	Title  string           `json:"title"`
	Status trace.ToolStatus `json:"status"`
}

// Bounds of what a judge is told, in bytes. Of a longer text it sees the beginning and the end.
const (
	maxRubric     = 16 << 10
	maxSeenPrompt = 8 << 10
	maxSeenOutput = 32 << 10
	maxSeenTitle  = 200
	maxSeenParts  = 20  // prompts
	maxSeenCalls  = 200 // calls of tools
)

const defaultScoreMin = 0.7

// judge judges the session by a model's opinion.
type judge struct {
	JudgeModel `yaml:",inline"`

	// Rubric says what a good session is.
	Rubric string `yaml:"rubric"`
	// ScoreMin is the lowest score that passes; nil is defaultScoreMin.
	ScoreMin *float64 `yaml:"score_min"`
}

func (g *judge) fault() *fault {
	switch {
	case g.Rubric == "":
		return &fault{"rubric", "is missing: write what a good session is"}
	case len(g.Rubric) > maxRubric:
		return &fault{"rubric", fmt.Sprintf("is longer than %d KB: write a shorter one", maxRubric>>10)}
	case g.ScoreMin != nil && (*g.ScoreMin <= 0 || *g.ScoreMin > 1):
		return &fault{"score_min", "must be above 0 and at most 1: write a score such as 0.7"}
	}
	return g.JudgeModel.fault()
}

func (m JudgeModel) fault() *fault {
	e := m.Endpoint
	if e == nil {
		return nil
	}
	switch u, err := url.Parse(e.URL); {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return &fault{"endpoint.url", "is no address of a server: write one such as https://api.openai.com/v1"}
	case u.User != nil:
		return &fault{"endpoint.url", "has a password in it: write key: env:NAME instead"}
	case e.Key != "" && !regexp.MustCompile(`\Aenv:[A-Za-z_][A-Za-z0-9_]*\z`).MatchString(e.Key):
		return &fault{"endpoint.key", "must name an environment variable, because cases are read by many: write env:NAME"}
	}
	return nil
}

// or is the model with what it lacks from another; nil if neither is set.
func (m *JudgeModel) or(other *JudgeModel) *JudgeModel {
	if m == nil || other == nil {
		return cmp.Or(m, other)
	}
	return &JudgeModel{cmp.Or(m.Model, other.Model), cmp.Or(m.Endpoint, other.Endpoint)}
}

// withoutJudge is the place of the first grader that lacks a model or an endpoint, or "".
func (c *Case) withoutJudge() string {
	for i, g := range c.Graders {
		if j, is := g.check.(*judge); is {
			if m := j.or(c.Judge); m.Model == "" || m.Endpoint == nil {
				return fmt.Sprintf("graders[%d]", i)
			}
		}
	}
	return ""
}

// CheckJudge returns a [Fault] if a grader of the case is to ask a model, and neither the grader nor
// the case says which.
func (c *Case) CheckJudge(file string) error {
	if at := c.withoutJudge(); at != "" {
		return &Fault{File: file, Sentence: at + " has no model and endpoint: write both there, or in judge of the case or its suite"}
	}
	return nil
}

func (g *judge) grade(ctx context.Context, s *Session, m Means) judgement {
	last := s.last()
	if last == nil {
		return unclear(s.ends(), "an edit has removed every turn, so there is nothing to show to a model")
	}
	evidence := []string{last.StopRecord}
	if m.Judge == nil {
		return judgement{verdict: Skipped, reason: "no model is asked in this judgement", evidence: evidence}
	}
	q := JudgeQuestion{JudgeModel: *g.or(m.judge), Rubric: g.Rubric, Seen: s.seen()}
	if q.Model == "" || q.Endpoint == nil {
		return unclear(evidence, "neither the grader nor the case names the model and the endpoint of the judge")
	}
	answer, err := m.Judge.Judge(ctx, q)
	if err != nil {
		j := unclear(evidence, "%v", err)
		j.use = answer.Use
		return j
	}
	least := defaultScoreMin
	if g.ScoreMin != nil {
		least = *g.ScoreMin
	}
	j := passIf(answer.Score >= least, evidence, "the model's score is %v, and at least %v passes: %s", answer.Score, least, answer.Reason)
	j.score, j.use = &answer.Score, answer.Use
	return j
}

// seen is what a judge sees of the session.
func (s *Session) seen() Seen {
	seen := Seen{Prompts: []string{}, Calls: []SeenCall{}}
	for _, t := range s.kept() {
		for _, p := range t.Prompts {
			var texts []string
			for _, part := range p.Message.Parts {
				if part.Text != "" {
					texts = append(texts, part.Text)
				}
			}
			if !p.Removed {
				seen.Prompts = append(seen.Prompts, middleCut(strings.Join(texts, "\n"), maxSeenPrompt))
			}
		}
		seen.Output = middleCut(t.Stop.FinalOutput, maxSeenOutput)
	}
	seen.Prompts, _ = firstAndLast(seen.Prompts, maxSeenParts)
	for _, t := range s.Turns {
		for _, c := range t.Calls {
			one := SeenCall{Kind: c.ToolKind, Title: c.Title}
			if one.Title == "" {
				one.Title = c.Name
			}
			one.Title = middleCut(one.Title, maxSeenTitle)
			if c.Result != nil {
				one.Status = c.Result.Status
			}
			seen.Calls = append(seen.Calls, one)
		}
	}
	seen.Calls, seen.LeftOut = firstAndLast(seen.Calls, maxSeenCalls)
	return seen
}

// firstAndLast are the first and the last of too many, and how many are between.
func firstAndLast[T any](all []T, most int) (some []T, between int) {
	if len(all) <= most {
		return all, 0
	}
	half := most / 2
	return append(all[:half:half], all[len(all)-half:]...), len(all) - 2*half
}

// middleCut is a text without its middle if it is longer than so many bytes.
func middleCut(text string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	half := most / 2
	return strings.ToValidUTF8(text[:half], "") + fmt.Sprintf(" [%d bytes are left out here] ", len(text)-2*half) + strings.ToValidUTF8(text[len(text)-half:], "")
}
