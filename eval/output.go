package eval

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// output judges the text that the agent ended its last turn with.
type output struct {
	Text textRules `yaml:",inline"`
}

// textRules are what a text must be. White space around the text does not count for Equals.
type textRules struct {
	Equals      string `yaml:"equals"`
	Contains    string `yaml:"contains"`
	IContains   string `yaml:"icontains"`
	NotContains string `yaml:"not_contains"`
	Regex       string `yaml:"regex"`
}

func (r *textRules) fault() *fault {
	if none(r) {
		return &fault{"", "says nothing: write equals, contains, icontains, not_contains or regex"}
	}
	return badRegex("regex", r.Regex)
}

func badRegex(key, text string) *fault {
	if _, err := regexp.Compile(text); err != nil {
		return &fault{key, "is no regular expression of Go: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	}
	return nil
}

// broken is the first rule that the text breaks, as a sentence about what; empty for none.
func (r *textRules) broken(what, text string) string {
	switch {
	case r.Equals != "" && strings.TrimSpace(text) != strings.TrimSpace(r.Equals):
		return what + " is not " + quoted(r.Equals)
	case r.Contains != "" && !strings.Contains(text, r.Contains):
		return what + " does not have " + quoted(r.Contains)
	case r.IContains != "" && !strings.Contains(strings.ToLower(text), strings.ToLower(r.IContains)):
		return what + " does not have " + quoted(r.IContains) + " in any case of letters"
	case r.NotContains != "" && strings.Contains(text, r.NotContains):
		return what + " has " + quoted(r.NotContains)
	case r.Regex != "" && !regexp.MustCompile(r.Regex).MatchString(text):
		return what + " does not match " + quoted(r.Regex)
	}
	return ""
}

func (o *output) grade(_ context.Context, s *Session, _ Means) judgement {
	t := s.last()
	if t == nil {
		return unclear(s.ends(), "an edit has removed every turn, so there is no output")
	}
	text, evidence := t.Stop.FinalOutput, []string{t.StopRecord}
	if broken := o.Text.broken("the output", text); broken != "" {
		if text == "" {
			return passIf(false, evidence, "%s, but empty", broken)
		}
		return passIf(false, evidence, "%s: it begins with %s", broken, quoted(text))
	}
	return passIf(true, evidence, "the output is as it should be")
}

// question judges what the agent asked its user.
type question struct {
	// Asked is how many questions there must be; nil is one or more.
	Asked *int `yaml:"asked"`
	// Matches is in the text of those that count.
	Matches string `yaml:"matches"`
}

func (q *question) fault() *fault { return badRegex("matches", q.Matches) }

func (q *question) grade(_ context.Context, s *Session, _ Means) judgement {
	matches, n := regexp.MustCompile(q.Matches), 0
	var evidence []string
	for _, t := range s.Turns {
		for _, one := range t.Questions {
			if matches.MatchString(one.Text) || matches.MatchString(one.Header) {
				n++
				evidence = append(evidence, one.Record)
			}
		}
	}
	if s.anyImported() {
		return unclear(s.ends(), untold+"what was asked")
	}
	if n == 0 {
		evidence = s.ends()
	}
	if q.Asked == nil || n == *q.Asked {
		return passIf(n > 0 || q.Asked != nil, evidence, "the agent asked %s", times(n))
	}
	return passIf(false, evidence, "the agent asked %s, not %s", times(n), times(*q.Asked))
}

// outcome judges how the turns ended.
type outcome struct {
	// Completed says that all turns must have completed, or that one must not.
	Completed *bool `yaml:"completed"`
	// Reason is that of the last turn's stop.
	Reason string `yaml:"reason"`
}

func (o *outcome) fault() *fault {
	if none(o) {
		return &fault{"", "says nothing: write completed or reason"}
	}
	return nil
}

func (o *outcome) grade(_ context.Context, s *Session, _ Means) judgement {
	last := s.last()
	if last == nil {
		return unclear(s.ends(), "an edit has removed every turn")
	}
	if s.anyImported() {
		return unclear(s.ends(), untold+"how a turn ended")
	}
	var each []judgement
	if o.Completed != nil {
		var done, not []string
		first := last
		for _, t := range s.kept() {
			if t.Stop.Outcome == trace.OutcomeCompleted {
				done = append(done, t.StopRecord)
				continue
			}
			if not == nil {
				first = t
			}
			not = append(not, t.StopRecord)
		}
		if not == nil {
			each = append(each, passIf(*o.Completed, done, "every turn completed"))
		} else {
			each = append(each, passIf(!*o.Completed, not, "a turn %s: %s", first.Stop.Outcome, quoted(first.Stop.Reason)))
		}
	}
	if o.Reason != "" {
		each = append(each, passIf(glob(o.Reason, last.Stop.Reason), []string{last.StopRecord}, "the last turn ended for the reason %q", last.Stop.Reason))
	}
	return all(each)
}

// noErrors passes if the agent told of no error and no turn failed. Calls that failed are no
// errors: an agent tries.
type noErrors struct{}

func (*noErrors) fault() *fault { return nil }

func (*noErrors) grade(_ context.Context, s *Session, _ Means) judgement {
	var evidence []string
	first := ""
	found := func(id, text string) {
		evidence = append(evidence, id)
		if first == "" {
			first = text
		}
	}
	for _, n := range s.Errors {
		e, _ := n.Payload.(trace.Error) // it is one
		found(n.Record, e.Message)
	}
	for _, t := range s.Turns {
		for _, n := range t.Notes {
			if e, is := n.Payload.(trace.Error); is && e.Level != trace.LevelNotice {
				found(n.Record, e.Message)
			}
		}
		if t.Stop.Outcome == trace.OutcomeFailed {
			found(t.StopRecord, cmp.Or(t.Stop.Error, t.Stop.Reason))
		}
	}
	switch {
	case evidence != nil:
		return passIf(false, evidence, "something went wrong %s, first %s", times(len(evidence)), quoted(first))
	case s.anyImported():
		return unclear(s.ends(), untold+"what went wrong")
	}
	return passIf(true, s.ends(), "nothing went wrong")
}

func (o *output) fault() *fault { return o.Text.fault() }
