package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/run"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/agentset"
)

type evalRunCommand struct {
	judgeFlags

	Suite   string   `arg:"" placeholder:"SUITE" help:"The file of the suite."`
	Out     string   `placeholder:"DIR" help:"The directory of the results (default NAME.results beside NAME.yaml). Runs with a result are not run again."`
	Jobs    int      `placeholder:"N" default:"1" help:"How many runs at the same time (default 1)."`
	Repeats int      `placeholder:"N" help:"How often each agent gets each case, instead of the suite's number."`
	Agent   []string `sep:"none" placeholder:"NAME" help:"Only this agent. May be given several times."`
	Case    []string `sep:"none" placeholder:"NAME" help:"Only this case. May be given several times."`
	Tag     string   `placeholder:"TAG" help:"Only cases with this tag."`
	Retry   string   `placeholder:"error" help:"error: also run again what ended with an error."`
	JUnit   string   `name:"junit" placeholder:"FILE" help:"Write the results into this file too, as JUnit XML."`
	JSON    bool     `name:"json" help:"Print a line of JSON for each run, instead of the table."`
	Config  string   `placeholder:"FILE" help:"A configuration, for agents of the suite without settings, and for rules of sessions."`
}

// Run runs a suite. The exit status is exitFailed if a case is under its rate, else exitNotJudged
// if a run could not be judged.
func (c *evalRunCommand) Run(ctx context.Context, p *program) (err error) {
	agents, cells, err := c.plan(ctx, p)
	if err != nil {
		return err
	}
	results, err := run.OpenResults(c.out())
	if err != nil {
		return usage("%w", err)
	}
	defer func() { err = errors.Join(err, results.Close()) }()
	runner := &run.Runner{
		Results: results, Jobs: c.Jobs, Version: version(), Env: agentset.EveryProcess(os.Environ()),
		Open: func(name string) (session.Options, error) {
			a, err := agents.agent(name)
			return agents.hubOf(map[string]session.Agent{name: a}, newLogger(p.stderr, slog.LevelError)), err
		},
	}
	asked, done := c.judge(c.out())
	defer done()
	runner.Judge = asked
	pending := len(runner.Pending(cells, c.Retry != ""))
	if kept := len(cells) - pending; kept > 0 {
		fmt.Fprintf(p.stderr, "tributary: %d of %d runs have a result in %s already, and are not run again.\n", kept, len(cells), c.out())
	}
	shown := &progress{out: p.stderr, line: isTerminal(p.stderr), all: pending}
	var used eval.JudgeUse
	runner.Begun, runner.Done = shown.begun, func(one eval.Cell) {
		if one.Judge != nil {
			used.Add(*one.Judge)
		}
		shown.done(one)
	}
	err = p.untilSignal(ctx, exitCanceled, func(ctx context.Context) error { return runner.Run(ctx, cells, c.Retry != "") })
	shown.end()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	p.judgeUsed(used)
	found := results.Of(cells)
	if printErr := c.print(p, found); printErr != nil {
		return printErr
	}
	if err != nil {
		fmt.Fprintln(p.stderr, "tributary: interrupted: the same command goes on with the runs that have no result.")
		return &exitError{status: exitCanceled}
	}
	return evalStatus(eval.Tally(found))
}

// out is the directory of the results.
func (c *evalRunCommand) out() string {
	return cmp.Or(c.Out, strings.TrimSuffix(c.Suite, filepath.Ext(c.Suite))+".results")
}

// plan reads the suite with its cases and its agents, and finds what is to be run.
func (c *evalRunCommand) plan(ctx context.Context, p *program) (agents setup, cells []run.Cell, err error) {
	switch {
	case c.Retry != "" && c.Retry != "error":
		return agents, nil, usage("--retry is %q: write --retry error, or leave it out", c.Retry)
	case c.Jobs < 1:
		return agents, nil, usage("--jobs is %d: write a number of 1 or more", c.Jobs)
	case c.Repeats < 0:
		return agents, nil, usage("--repeats is %d: write a number of 1 or more", c.Repeats)
	}
	_, suite, err := eval.Load(c.Suite)
	if err == nil && suite == nil {
		err = fmt.Errorf("%s is a case: name a file with a suite, which has cases and agents", c.Suite)
	}
	var cases []*eval.Case
	if err == nil {
		cases, err = suite.LoadCases(c.Suite)
	}
	if err == nil {
		err = c.apart(cases)
	}
	if err != nil {
		return agents, nil, usage("%w", err)
	}
	if agents, err = suiteAgents(c.Suite, c.Config, p.kinds()); err != nil {
		return agents, nil, err
	}
	texts := map[string]string{}
	for name, a := range agents.Agents {
		if a.Command, err = run.Program(c.Suite, a.Command); err != nil {
			return agents, nil, usage("the program of the agent %s cannot be read: %w", name, err)
		}
		text, err := json.Marshal(a)
		if err != nil {
			return agents, nil, fmt.Errorf("the settings of the agent %s cannot be compared: %w", name, err)
		}
		texts[name] = string(text)
	}
	cells, err = run.Plan(ctx, cases, texts, run.Choice{Agents: c.Agent, Cases: c.Case, Tag: c.Tag, Repeats: c.Repeats})
	if err != nil {
		return agents, nil, usage("%w", err)
	}
	made := map[string]bool{}
	for _, one := range cells {
		if !made[one.Agent] {
			if _, err := agents.agent(one.Agent); err != nil {
				return agents, nil, err
			}
		}
		made[one.Agent] = true
	}
	return agents, cells, nil
}

// apart refuses a directory of results in a directory that is copied for each run.
func (c *evalRunCommand) apart(cases []*eval.Case) error {
	out, err := filepath.Abs(c.out())
	if err != nil {
		return fmt.Errorf("find the current directory: %w", err)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(out)); err == nil {
		out = filepath.Join(dir, filepath.Base(out))
	}
	for _, one := range cases {
		source, err := run.Source(one)
		if err != nil {
			return err //nolint:wrapcheck // a sentence
		}
		if rel, err := filepath.Rel(source, out); source != "" && err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("the results would be in %s, which is copied for each run of %s: name another directory with --out", source, one.Name)
		}
	}
	return nil
}

// suiteAgents reads the agents of a suite, with those of a configuration, if one is named. Where they work
// and what they may do is the cases' affair.
func suiteAgents(suite, conf string, kinds catalog) (setup, error) {
	var cfg config.Config
	if conf != "" {
		var err error
		if cfg, err = config.Load(conf); err != nil {
			return setup{}, err //nolint:wrapcheck // a sentence
		}
	}
	named := maps.Clone(cfg.Agents)
	data, err := os.ReadFile(suite)
	if err != nil {
		return setup{}, usage("the suite cannot be read: %w", reason(err))
	}
	if cfg, err = cfg.WithAgents(data, suite); err != nil {
		return setup{}, err //nolint:wrapcheck // a sentence
	}
	if named == nil {
		named = map[string]config.Agent{}
	}
	maps.Copy(named, cfg.Agents)
	for name, a := range cfg.Agents {
		a.Cwd, a.Policy, a.Roles, a.Enabled = "", nil, nil, nil
		cfg.Agents[name] = a
	}
	return setup{cfg, kinds, named, peopleOf(cfg, false)}, nil
}

// print prints the results, and writes them for other programs.
func (c *evalRunCommand) print(p *program, found []eval.Cell) error {
	for _, sentence := range mixedVersions(found) {
		fmt.Fprintln(p.stderr, "tributary:", sentence)
	}
	if c.JUnit != "" {
		if err := whole(c.JUnit, func(w io.Writer) error { return eval.WriteJUnit(w, resultsOfCells(found)) }); err != nil {
			return err
		}
	}
	p.stepSummary(found)
	if c.JSON {
		for _, one := range found {
			if err := eval.WriteCell(p.stdout, one); err != nil {
				return err //nolint:wrapcheck // a sentence
			}
		}
		return nil
	}
	if err := printRows(p.stdout, eval.Tally(found)); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "\nThe results are in %s.\n", filepath.Join(c.out(), run.ResultsFile))
	return nil
}
