package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tributary-dev/tributary/eval"
)

type evalCommand struct {
	Check evalCheckCommand `cmd:"" help:"Check cases and suites, without a run of an agent."`
	Grade evalGradeCommand `cmd:"" help:"Judge sessions that have ended by the graders of cases."`
}

// exitNotJudged is the exit status of a judgement without a failure in which a session could not
// be judged.
const exitNotJudged = 3

type evalCheckCommand struct {
	Files []string `arg:"" name:"file" placeholder:"FILE" help:"Files with a case or a suite. The cases of a suite are checked too."`
}

// Run says of each file whether it can be meant.
func (c *evalCheckCommand) Run(p *program) error {
	wrong := false
	for _, name := range c.Files {
		text, err := checkEval(name)
		if err != nil {
			wrong = true
			fmt.Fprintln(p.stderr, "tributary:", err)
			continue
		}
		fmt.Fprintln(p.stdout, text)
	}
	if wrong {
		return &exitError{status: exitUsage}
	}
	return nil
}

func checkEval(name string) (string, error) {
	one, suite, err := eval.Load(name)
	switch {
	case err != nil:
		return "", err //nolint:wrapcheck // a sentence
	case one != nil:
		return fmt.Sprintf("%s: the case %s is right. Its graders: %d.", name, oneParagraph(one.Name), len(one.Graders)), nil
	}
	cases, err := suite.LoadCases(name)
	if err != nil {
		return "", err //nolint:wrapcheck // a sentence
	}
	return fmt.Sprintf("%s: the suite is right. Its cases: %d, its agents: %d.", name, len(cases), len(suite.Agents)), nil
}

type evalGradeCommand struct {
	reach

	Case    []string `sep:"none" placeholder:"FILE" help:"A file with a case. May be given several times."`
	JSON    bool     `name:"json" help:"Print a line of JSON for each case and session, with all findings."`
	JUnit   string   `name:"junit" placeholder:"FILE" help:"Write the results into this file too, as XML for programs that read JUnit's."`
	Sources []string `arg:"" name:"source" placeholder:"SOURCE" help:"Sessions: a file with the records of a trace as JSON lines, a file with a trajectory in ATIF, or the id of a session of a running gateway."`
}

// Run judges sessions. Its exit status is exitFailed if a session fails, else exitUsage if a file
// cannot be read, else exitNotJudged if a session could not be judged.
func (c *evalGradeCommand) Run(ctx context.Context, p *program) error {
	cases, err := c.cases()
	if err != nil {
		return err
	}
	sessions := c.sessions(ctx)
	status := exitOK
	for _, s := range sessions {
		if s.err != nil {
			fmt.Fprintln(p.stderr, "tributary:", s.err)
			if status == exitOK || status == exitNotJudged {
				status = s.status()
			}
		}
	}
	var results []eval.Result
	failed, unjudged := false, false
	t := newTable(p.stdout)
	if !c.JSON {
		t.row("CASE", "SESSION", "VERDICT", "REASON")
	}
	for _, one := range cases {
		for _, s := range sessions {
			r := s.grade(ctx, one)
			results = append(results, r)
			failed = failed || r.Verdict == eval.Failed
			unjudged = unjudged || r.Verdict == eval.Errored || r.Verdict == eval.Skipped
			if !c.JSON {
				t.row(oneLine(r.Case), oneLine(r.Session), string(r.Verdict), oneLine(r.Reason))
				continue
			}
			line, err := json.Marshal(struct {
				eval.Result

				Source string `json:"source"`
			}{r, s.source})
			if err != nil {
				return fmt.Errorf("the result cannot be written as JSON: %w", err)
			}
			fmt.Fprintf(p.stdout, "%s\n", line)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("the results cannot be printed: %w", err)
	}
	if c.JUnit != "" {
		if err := whole(c.JUnit, func(w io.Writer) error { return eval.WriteJUnit(w, results) }); err != nil {
			return err
		}
	}
	switch {
	case failed:
		return &exitError{status: exitFailed}
	case status != exitOK:
		return &exitError{status: status}
	case unjudged:
		return &exitError{status: exitNotJudged}
	}
	return nil
}

// cases reads the files of cases.
func (c *evalGradeCommand) cases() (cases []*eval.Case, err error) {
	if len(c.Case) == 0 {
		return nil, usage("--case is missing: write --case FILE")
	}
	for _, name := range c.Case {
		one, _, err := eval.Load(name)
		if err == nil && one == nil {
			err = fmt.Errorf("%s is a suite: name a file with a case", name)
		}
		if err != nil {
			return nil, usage("%w", err)
		}
		cases = append(cases, one)
	}
	return cases, nil
}

// judged is a session that is judged, and where it comes from; or why a source cannot be read.
type judged struct {
	source  string
	session *eval.Session
	err     error
}

// grade judges the session. A source that cannot be read is an error of its own.
func (j judged) grade(ctx context.Context, c *eval.Case) eval.Result {
	if j.err != nil {
		return eval.Result{Case: c.Name, Session: j.source, Verdict: eval.Errored, Reason: j.err.Error()}
	}
	return c.Grade(ctx, j.session, nil)
}

// status is the exit status for a source that cannot be read.
func (j judged) status() int {
	if exit, is := errors.AsType[*exitError](j.err); is {
		return exit.status
	}
	return exitNotJudged
}

// sessions reads the sessions of all sources.
func (c *evalGradeCommand) sessions(ctx context.Context) (all []judged) {
	for _, source := range c.Sources {
		var found []*eval.Session
		_, err := os.Stat(source)
		switch {
		case err == nil:
			found, err = sessionsIn(ctx, source)
		case pathLike(source):
			err = usage("%s cannot be read: %w", source, reason(err))
		default:
			found, err = c.remote(ctx, source)
		}
		for _, s := range found {
			all = append(all, judged{source, s, nil})
		}
		if err != nil {
			all = append(all, judged{source, nil, err})
		}
	}
	return all
}
