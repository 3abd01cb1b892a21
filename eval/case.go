package eval

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/policy/permission"
)

// Case is one task, and how to judge what an agent made of it.
type Case struct {
	Settings `yaml:",inline"`

	// File is where the case was read from.
	File string `yaml:"-"`
	Name string `yaml:"name"`
	// Prompt is the only prompt. Turns are several prompts, each sent when the turn before has ended.
	Prompt string   `yaml:"prompt"`
	Turns  []string `yaml:"turns"`
	// Workspace is the directory in which the agent works.
	Workspace *Source `yaml:"workspace"`
	// Agents name those agents of the suite that get the task; empty is all.
	Agents []string `yaml:"agents"`
	// Permissions answer the agent's requests. What no rule matches is denied.
	Permissions *permission.Policy `yaml:"permissions"`
	Answers     []Answer           `yaml:"answers"`
	Tags        []string           `yaml:"tags"`
	Graders     []Grader           `yaml:"graders"`
}

// Suite is a list of cases and the agents that get them. A case may have its own settings.
type Suite struct {
	Settings `yaml:",inline"`

	// Agents are the settings of agents by their names, as in tributary.yaml.
	Agents map[string]any `yaml:"agents"`
	// Cases are files of cases, relative to the suite's file. * is any text of a file's name.
	Cases []string `yaml:"cases"`
}

// Settings are what a suite says for all of its cases, and a case for itself.
type Settings struct {
	// Repeats is how often each agent gets the task; 0 is once.
	Repeats int     `yaml:"repeats"`
	Limits  *Limits `yaml:"limits"`
	Pass    *Pass   `yaml:"pass"`
	// Unknown says what a required grader counts as if the trace cannot tell; empty is UnknownFails.
	Unknown Unknown `yaml:"unknown"`
	// Judge is the model for graders that do not name their own.
	Judge *JudgeModel `yaml:"judge"`
}

// Source is a directory that is copied for each run, and commands that prepare the copy.
type Source struct {
	Source string   `yaml:"source"` // relative to the case's file
	Setup  []string `yaml:"setup"`
}

// Answer answers questions whose text has Question in it.
type Answer struct {
	Question string `yaml:"question"`
	Choose   string `yaml:"choose"`
}

// Limits end a run. 0 is no limit.
type Limits struct {
	Time    time.Duration `yaml:"time"`
	Tokens  int           `yaml:"tokens"`
	CostUSD float64       `yaml:"cost_usd"`
	Steps   int           `yaml:"steps"`
}

// Pass says when a case passes with an agent: at a rate of passed runs, from 0 to 1. With K, a run is
// a choice of K of the runs, and passes if all of them do: see [PassHatK]. A MinRate of 0 is 1, and
// a K of 0 is 1.
type Pass struct {
	MinRate float64 `yaml:"min_rate" json:"min_rate,omitempty"`
	K       int     `yaml:"pass_k" json:"pass_k,omitempty"`
}

// Unknown says what a grader counts as that cannot know.
type Unknown string

// What an unknown finding of a required grader does.
const (
	UnknownFails Unknown = "fail" // the run fails
	UnknownSkips Unknown = "skip" // the grader does not count
)

// fault is what is wrong with a value at a path such as graders[0].regex.
type fault struct{ path, sentence string }

func (s Settings) fault() *fault {
	switch {
	case s.Pass != nil && *s.Pass == (Pass{}):
		return &fault{"pass", "needs min_rate or pass_k"}
	case s.Pass != nil && s.Pass.MinRate > 1:
		return &fault{"pass.min_rate", "is more than 1: write a rate such as 0.8"}
	case s.Judge != nil:
		if f := s.Judge.fault(); f != nil {
			return &fault{"judge." + f.path, f.sentence}
		}
	}
	return nil
}

// or are the settings, and others for those that are not set.
func (s Settings) or(others Settings) Settings {
	return Settings{
		Repeats: cmp.Or(s.Repeats, others.Repeats), Limits: cmp.Or(s.Limits, others.Limits), Pass: cmp.Or(s.Pass, others.Pass), Unknown: cmp.Or(s.Unknown, others.Unknown),
		Judge: s.Judge.or(others.Judge),
	}
}

func (c *Case) fault() *fault {
	switch {
	case strings.TrimSpace(c.Name) == "":
		return &fault{"name", "is missing: give the case a name"}
	case c.Prompt != "" && len(c.Turns) > 0:
		return &fault{"turns", "stands beside prompt: use one of them"}
	case len(c.Graders) == 0:
		return &fault{"graders", "is missing: write at least one grader"}
	}
	if c.Permissions != nil {
		if err := c.Permissions.Validate(); err != nil {
			return &fault{"permissions", "cannot be meant: " + err.Error()}
		}
	}
	for i, a := range c.Answers {
		if a.Question == "" || a.Choose == "" {
			return &fault{fmt.Sprintf("answers[%d]", i), "needs question and choose"}
		}
	}
	for i, g := range c.Graders {
		if f := g.check.fault(); f != nil {
			return &fault{strings.TrimSuffix(fmt.Sprintf("graders[%d].%s", i, f.path), "."), f.sentence}
		}
	}
	return c.Settings.fault()
}

func (s *Suite) fault() *fault {
	switch {
	case len(s.Cases) == 0:
		return &fault{"cases", "is missing: name files of cases"}
	case len(s.Agents) == 0:
		return &fault{"agents", "is missing: write the settings of at least one agent"}
	}
	return s.Settings.fault()
}

// LoadCases reads the cases of a suite, whose file this is, in the order of their files' names. A
// case without a setting has that of the suite.
func (s *Suite) LoadCases(file string) (cases []*Case, err error) {
	seen := map[string]bool{}
	for i, pattern := range s.Cases {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(file), filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			return nil, &Fault{File: file, Sentence: fmt.Sprintf("cases[%d] is %q, and there is no such file: write its path relative to the suite", i, pattern)}
		}
		for _, name := range files {
			c, _, err := Load(name)
			switch {
			case err != nil:
				return nil, err
			case c == nil:
				return nil, &Fault{File: name, Sentence: "the file is a suite, and a suite has cases only"}
			case seen[c.Name]:
				return nil, &Fault{File: name, Sentence: fmt.Sprintf("another case of the suite is named %q: give each a name of its own", c.Name)}
			}
			for _, agent := range c.Agents {
				if _, known := s.Agents[agent]; !known {
					return nil, &Fault{File: name, Sentence: fmt.Sprintf("agents has %q, and the suite does not: add the agent to %s", agent, file)}
				}
			}
			seen[c.Name] = true
			c.Settings = c.or(s.Settings)
			if err := c.CheckJudge(name); err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}
