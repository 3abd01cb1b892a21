package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

type evalCommand struct {
	Run     evalRunCommand     `cmd:"" help:"Run the cases of a suite with its agents, and judge what they did."`
	Init    evalInitCommand    `cmd:"" help:"Write a suite that runs, as a beginning for one of your own."`
	Check   evalCheckCommand   `cmd:"" help:"Check cases and suites, without a run of an agent."`
	Grade   evalGradeCommand   `cmd:"" help:"Judge sessions that have ended by the graders of cases."`
	Compare evalCompareCommand `cmd:"" help:"Compare the results of two runs: what got better or worse."`
	Report  evalReportCommand  `cmd:"" help:"Show the results of a run, or write them into files."`
}

// exitNotJudged is the exit status of a judgement without a failure in which a session could not
// be judged.
const exitNotJudged = 3

type evalCheckCommand struct {
	Config string   `placeholder:"FILE" help:"A configuration, for agents of a suite without settings."`
	Files  []string `arg:"" name:"file" placeholder:"FILE" help:"Files with a case or a suite, which is checked with its cases and agents."`
}

// Run says of each file whether it can be meant.
func (c *evalCheckCommand) Run(_ context.Context, p *program) error {
	wrong := false
	for _, name := range c.Files {
		text, err := c.check(p, name)
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

func (c *evalCheckCommand) check(p *program, name string) (string, error) {
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
	agents, err := suiteAgents(name, c.Config, p.kinds())
	if err != nil {
		return "", err
	}
	for _, agent := range slices.Sorted(maps.Keys(agents.Agents)) {
		if _, _, err := agents.adapterOf(agent); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s: the suite is right. Its cases: %d, its agents: %d.", name, len(cases), len(suite.Agents)), nil
}

type evalGradeCommand struct {
	reach
	judgeFlags

	Case    []string `sep:"none" placeholder:"FILE" help:"A file with a case or a suite. May be given several times."`
	JSON    bool     `name:"json" help:"Print a line of JSON for each case and session, with all findings."`
	JUnit   string   `name:"junit" placeholder:"FILE" help:"Write the results into this file too, as JUnit XML."`
	Record  bool     `help:"Record the findings in the gateway, as scores of each session's last turn. All sources must be its sessions."`
	Sources []string `arg:"" name:"source" placeholder:"SOURCE" help:"A trace as JSON lines, a trajectory in ATIF, the directory of a run's results, or the id of a session of a running gateway."`
}

// Run judges sessions. Its exit status is exitFailed if a session fails, else exitUsage if a file
// cannot be read, else exitNotJudged if a session could not be judged.
func (c *evalGradeCommand) Run(ctx context.Context, p *program) error {
	cases, err := c.cases()
	if err != nil {
		return err
	}
	sessions, err := c.sessions(ctx)
	if err != nil {
		return err
	}
	status := exitOK
	for _, s := range sessions {
		if s.err != nil {
			fmt.Fprintln(p.stderr, "tributary:", s.err)
			if status == exitOK || status == exitNotJudged {
				status = s.status()
			}
		}
	}
	asked, done := c.judge(resultsOf(c.Sources))
	defer done()
	var results []eval.Result
	scores := map[string][]trace.Score{}
	var used eval.JudgeUse
	failed, unjudged := false, false
	t := newTable(p.stdout)
	if !c.JSON {
		t.row("CASE", "SESSION", "VERDICT", "REASON")
	}
	for _, one := range cases {
		for _, s := range sessions {
			if s.of != "" && s.of != one.Name {
				continue
			}
			r := s.result
			r.Case = one.Name
			if s.session != nil {
				r = one.Grade(ctx, s.session, eval.Means{Judge: asked})
				scores[s.session.ID] = append(scores[s.session.ID], r.Scores(s.session)...)
				if r.Judge != nil {
					used.Add(*r.Judge)
				}
			}
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
	p.judgeUsed(used)
	if len(results) == 0 {
		return usage("no session of the results is of a case that --case names: name the cases or the suite of the run")
	}
	if c.JUnit != "" {
		if err := whole(c.JUnit, func(w io.Writer) error { return eval.WriteJUnit(w, results) }); err != nil {
			return err
		}
	}
	if c.Record {
		if err := c.record(ctx, scores); err != nil {
			return &exitError{exitNotJudged, err}
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

// record sends what graders found to the gateway that has the sessions.
func (c *evalGradeCommand) record(ctx context.Context, scores map[string][]trace.Score) error {
	const most = 100 // that the gateway takes at once
	return c.using(func(g remote) error {
		for id, all := range scores {
			for some := range slices.Chunk(all, most) {
				call := httpjson.Call{Method: "POST", Path: of(id, "scores"), In: map[string]any{"scores": some}}
				if err := g.Do(ctx, call); err != nil {
					return fmt.Errorf("the scores of the session %s are not on record: %w", oneParagraph(id), g.plain(err))
				}
			}
		}
		return nil
	})
}

// cases reads the files of cases.
func (c *evalGradeCommand) cases() (cases []*eval.Case, err error) {
	if len(c.Case) == 0 {
		return nil, usage("--case is missing: write --case FILE")
	}
	for _, name := range c.Case {
		one, suite, err := eval.Load(name)
		more := []*eval.Case{one}
		if err == nil && one == nil {
			more, err = suite.LoadCases(name)
		} else if err == nil && !c.NoJudge {
			err = one.CheckJudge(name)
		}
		if err != nil {
			return nil, usage("%w", err)
		}
		cases = append(cases, more...)
	}
	return cases, nil
}

// judged is a session that is judged, and where it comes from; or why a source cannot be read.
type judged struct {
	source  string
	session *eval.Session
	of      string      // the case that was run; empty for any
	result  eval.Result // of a run without a session, or of a source that cannot be read
	err     error
}

// unread is a source that cannot be read: an error of its own.
func unread(source string, err error) judged {
	return judged{source: source, err: err, result: eval.Result{Session: source, Verdict: eval.Errored, Reason: err.Error()}}
}

// status is the exit status for a source that cannot be read.
func (j judged) status() int {
	if exit, is := errors.AsType[*exitError](j.err); is {
		return exit.status
	}
	return exitNotJudged
}

// sessions reads the sessions of all sources.
func (c *evalGradeCommand) sessions(ctx context.Context) (all []judged, err error) {
	for _, source := range c.Sources {
		var found []*eval.Session
		info, err := os.Stat(source)
		switch {
		case err == nil && c.Record:
			return nil, usage("--record is for sessions of a running gateway, and %s is a file: name the session by its id", source)
		case err == nil && info.IsDir():
			var runs []judged
			runs, err = sessionsOfRun(ctx, source)
			all = append(all, runs...)
		case err == nil:
			found, err = sessionsIn(ctx, source)
		case pathLike(source):
			err = usage("%s cannot be read: %w", source, reason(err))
		default:
			found, err = c.remote(ctx, source)
		}
		for _, s := range found {
			all = append(all, judged{source: source, session: s})
		}
		if err != nil {
			all = append(all, unread(source, err))
		}
	}
	return all, nil
}
