package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file owns results.jsonl: a line for each cell.

// Bounds of a file of results.
const (
	MaxCells    = 100_000
	MaxCellLine = 4 << 20 // bytes of a line
	// maxEvidence is how many ids of records a line has for each finding.
	maxEvidence = 200
)

// Cell is one run of a case with an agent, and how it was judged: a line of results.jsonl.
type Cell struct {
	// Key stands for all that decides what is run: the case, the agent's settings, the repeat.
	Key string `json:"key"`
	// Case and Agent are their names in the suite. Repeat counts from 1.
	Case   string `json:"case"`
	Agent  string `json:"agent"`
	Repeat int    `json:"repeat"`
	// Seconds is how long the turns took.
	Seconds float64 `json:"seconds"`
	Verdict Verdict `json:"verdict"`
	// Reason is a sentence; empty for Passed. Evidence are the ids of records that show an error.
	Reason   string    `json:"reason,omitempty"`
	Evidence []string  `json:"evidence,omitempty"`
	Graders  []Finding `json:"graders,omitempty"`
	// Pass is what the case asked of its rate when the cell ran; nil is all runs.
	Pass *Pass `json:"pass,omitempty"`
	// Trace is the file with the records, relative to results.jsonl and with slashes; empty if the
	// agent has not begun.
	Trace    string   `json:"trace,omitempty"`
	Versions Versions `json:"versions"`
	// Usage and CostUSD are what the agent reports of all turns, nil if it reports nothing.
	Usage   *Tokens  `json:"usage,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// Partly says that the agent reports tokens or costs, and not of all that it did.
	Partly bool `json:"partly,omitempty"`
	// Steps are calls of the model by the agent itself, and Calls the calls of tools by all actors.
	Steps int `json:"steps"`
	Calls int `json:"calls"`
	// Judge is what the judges of the case took, apart from the agent; nil if none was asked.
	Judge *JudgeUse `json:"judge,omitempty"`
}

// Versions say what was run. Each is empty if nobody knows.
type Versions struct {
	Tributary string `json:"tributary,omitempty"`
	Agent     string `json:"agent,omitempty"` // such as claude-code 2.1.329
	Model     string `json:"model,omitempty"`
}

// Tokens are sums over all actors. CacheRead and CacheWrite are parts of Input, and Reasoning is
// a part of Output.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// Exceed makes the result a failure, because a limit of the run ended the session.
func (r *Result) Exceed(sentence string) {
	const name = "limit"
	f := Finding{Grader: name, Type: name, Verdict: Failed, Required: true, Decided: true, Reason: sentence, Evidence: []string{}}
	r.Graders = append([]Finding{f}, r.Graders...)
	r.Evidence = nil
	r.conclude()
}

// Cell makes a line of a session and its result. The caller adds what the session does not know.
func (r Result) Cell(s *Session) Cell {
	c := Cell{Case: r.Case, Agent: r.Agent.Name, Seconds: r.Seconds, Verdict: r.Verdict, Reason: r.Reason, Evidence: r.Evidence, Graders: r.Graders, Judge: r.Judge}
	for i, f := range c.Graders {
		c.Graders[i].Evidence = f.Evidence[:min(len(f.Evidence), maxEvidence)]
	}
	c.Versions = Versions{Agent: strings.TrimSpace(r.Agent.Product + " " + r.Agent.Version), Model: r.Agent.Model}
	var sum Tokens
	for _, t := range s.Turns {
		c.Steps += int(steps(t).n)
		c.Calls += len(t.Calls)
		told, paid := tokens(t), cost(t)
		c.Partly = c.Partly || told.partly && told.n > 0 || paid.partly && paid.evidence != nil
		if paid.evidence != nil {
			total := paid.n
			if c.CostUSD != nil {
				total += *c.CostUSD
			}
			c.CostUSD = &total
		}
		for _, a := range t.Actors {
			for _, st := range a.Steps {
				if st.Usage != nil {
					sum.add(st.Usage.Usage)
				}
				if st.Model != "" && c.Versions.Model == "" {
					c.Versions.Model = st.Model
				}
			}
		}
	}
	if sum != (Tokens{}) {
		c.Usage = &sum
	}
	return c
}

func (t *Tokens) add(u trace.Usage) {
	t.Input += u.InputTokens
	t.Output += u.OutputTokens
	t.CacheRead += u.CacheReadTokens
	t.CacheWrite += u.CacheWriteTokens
	t.Reasoning += u.ReasoningTokens
}

// Result is the cell as a result, for [WriteJUnit]. Its session is the case and the repeat.
func (c Cell) Result() Result {
	return Result{
		Case: c.Case, Session: fmt.Sprintf("%s #%d", c.Case, c.Repeat), Verdict: c.Verdict, Reason: c.Reason, Evidence: c.Evidence,
		Agent: trace.AgentInfo{Name: c.Agent, Version: c.Versions.Agent, Model: c.Versions.Model}, Seconds: c.Seconds, Graders: c.Graders, Judge: c.Judge,
	}
}

// fault is what cannot be in a cell, or "".
func (c *Cell) fault() string {
	switch {
	case c.Key == "" || c.Case == "" || c.Agent == "" || c.Repeat < 1:
		return "it lacks key, case, agent or repeat"
	case c.Verdict != Passed && c.Verdict != Failed && c.Verdict != Unclear && c.Verdict != Skipped && c.Verdict != Errored:
		return fmt.Sprintf("%.40q is no verdict", string(c.Verdict))
	case c.Trace != "" && (path.IsAbs(c.Trace) || path.Clean(c.Trace) != c.Trace || strings.HasPrefix(c.Trace, "../") || strings.ContainsAny(c.Trace, `\:`)):
		return "its trace is no file beside the results"
	}
	return ""
}

// WriteCell writes a cell as one line, in one write.
func WriteCell(w io.Writer, c Cell) error {
	if wrong := c.fault(); wrong != "" {
		return fmt.Errorf("the result of %.80q cannot be written: %s", c.Case, wrong)
	}
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("the result of %.80q cannot be written as JSON: %w", c.Case, err)
	}
	if len(line) >= MaxCellLine {
		return fmt.Errorf("the result of %.80q is larger than %d MB: let its graders find less", c.Case, MaxCellLine>>20)
	}
	_, err = w.Write(append(line, '\n'))
	return err //nolint:wrapcheck // the writer's own
}

// ReadCells reads lines that [WriteCell] has written, in their order: a later line of the same case,
// agent and repeat replaces an earlier one, see [Newest]. A line that cannot be meant gives a [Fault].
// For whole, see [ReadLines].
func ReadCells(file string, r io.Reader) (cells []Cell, whole int64, err error) {
	whole, err = ReadLines(file, r, func(line *json.Decoder) string {
		var c Cell
		const none = "this is no result of `tributary eval run`"
		if line.Decode(&c) != nil || line.More() {
			return none
		}
		wrong := c.fault()
		if cells = append(cells, c); wrong != "" {
			return none + ": " + wrong
		}
		return ""
	})
	if err != nil {
		return nil, 0, err
	}
	return cells, whole, nil
}

// ReadLines reads values as JSON, one in a line, at most MaxCells. For each it calls one, which says what is
// wrong with the value, or "". The end of a file whose writer was killed may lack its newline. Such a line is left
// out, and whole is the number of bytes before it. The error is a [Fault] with the name of the file.
func ReadLines(file string, r io.Reader, one func(*json.Decoder) string) (whole int64, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for n, values := 1, 0; ; n++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		whole += int64(len(line))
		wrong := ""
		if err != nil {
			wrong = err.Error()
		} else if len(bytes.TrimSpace(line)) > 0 {
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields()
			if values++; values > MaxCells {
				wrong = fmt.Sprintf("the file has more than %d results", MaxCells)
			} else {
				wrong = one(d)
			}
		}
		if wrong != "" {
			return 0, &Fault{File: file, Line: n, Sentence: wrong}
		}
	}
}

// readLine reads a line with its newline. What comes after the last newline is io.EOF.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > MaxCellLine:
			return nil, fmt.Errorf("the line is longer than %d MB", MaxCellLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("the results cannot be read: %w", err)
		default:
			return line, err //nolint:wrapcheck // it is io.EOF or nil
		}
	}
}

// Tokens are those that the models have read and written, nil if the agent reports none.
func (c Cell) Tokens() *float64 {
	if c.Usage == nil {
		return nil
	}
	n := float64(c.Usage.Input + c.Usage.Output)
	return &n
}

// Place is what has one result that counts.
type Place struct {
	Case, Agent string
	Repeat      int
}

// Place is that of the cell.
func (c Cell) Place() Place { return Place{c.Case, c.Agent, c.Repeat} }

// Newest keeps the last cell of each case, agent and repeat, in the order of the first ones.
func Newest(cells []Cell) (kept []Cell) {
	at := map[Place]int{}
	for _, c := range cells {
		i, again := at[c.Place()]
		if again {
			kept[i] = c
			continue
		}
		at[c.Place()] = len(kept)
		kept = append(kept, c)
	}
	return kept
}
