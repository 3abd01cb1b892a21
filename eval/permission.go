package eval

import (
	"context"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// permissions judges the requests for permission, those that a policy decides among them.
type permissions struct {
	// Kind and Tool say which calls are meant. Tool is the agent's own name of the tool, in which
	// * is any text, as in the rules of a policy.
	Kind trace.ToolKind `yaml:"kind"`
	Tool string         `yaml:"tool"`

	// Asked, Denied and Allowed are how many requests there must be, and how many of them somebody
	// must have denied and allowed. A request that was withdrawn, or not answered in time, is
	// neither.
	Asked   *int `yaml:"asked"`
	Denied  *int `yaml:"denied"`
	Allowed *int `yaml:"allowed"`
	// BeforeEffect says that no call may have run before it was allowed. Of a call without a
	// request nobody knows: the agent may have asked elsewhere, or need not ask.
	BeforeEffect bool `yaml:"before_effect"`
	// MustAsk says the same, and that a call which completed without a request is a fault.
	MustAsk bool `yaml:"must_ask"`
}

func (p *permissions) fault() *fault {
	if p.Asked == nil && p.Denied == nil && p.Allowed == nil && !p.BeforeEffect && !p.MustAsk {
		return &fault{"", "says nothing: write asked, denied, allowed, before_effect or must_ask"}
	}
	return nil
}

func (p *permissions) about() about { return about{Kind: p.Kind, RawName: p.Tool} }

func (p *permissions) grade(_ context.Context, s *Session, _ Means) judgement {
	if s.anyImported() {
		return unclear(s.ends(), untold+"what was asked")
	}
	var each []judgement
	var asked, denied, allowed count
	for _, t := range s.Turns {
		for _, q := range t.Requests {
			a := yes
			if p.about() != (about{}) {
				a = perhaps // of a request whose call is not on record, nobody knows the tool
				if q.Call != nil {
					a = p.about().like(q.Call)
				}
			}
			asked.add(a, q.Record)
			if r := q.Response; r != nil && r.Outcome == trace.Selected {
				switch r.OptionKind {
				case trace.AllowOnce, trace.AllowAlways:
					allowed.add(a, q.ResponseRecord)
				case trace.RejectOnce, trace.RejectAlways:
					denied.add(a, q.ResponseRecord)
				default: // an option of the agent's own
					denied.add(min(a, perhaps), q.ResponseRecord)
					allowed.add(min(a, perhaps), q.ResponseRecord)
				}
			}
		}
	}
	for _, one := range []struct {
		what string
		want *int
		have count
	}{{"asked", p.Asked, asked}, {"was denied", p.Denied, denied}, {"was allowed", p.Allowed, allowed}} {
		if one.want != nil {
			each = append(each, one.have.is(one.what, *one.want, s.ends()))
		}
	}
	if p.BeforeEffect || p.MustAsk {
		each = append(each, p.order(s))
	}
	return all(each)
}

// count counts what was so, and what may have been so.
type count struct {
	least, most int
	evidence    []string
}

func (c *count) add(a answer, record string) {
	if a == no {
		return
	}
	c.most++
	if a == yes {
		c.least++
	}
	c.evidence = append(c.evidence, record)
}

func (c *count) is(what string, want int, ends []string) judgement {
	evidence := c.evidence
	if evidence == nil {
		evidence = ends
	}
	switch {
	case want < c.least || want > c.most:
		n := c.least
		if want > n {
			n = c.most
		}
		return passIf(false, evidence, "the agent %s %s, not %s", what, times(n), times(want))
	case c.least < c.most:
		return unclear(evidence, "the agent %s between %d and %d times: of some requests the trace does not tell enough", what, c.least, c.most)
	}
	return passIf(true, evidence, "the agent %s %s", what, times(want))
}

// order judges whether calls ran before they were allowed.
func (p *permissions) order(s *Session) judgement {
	var early, unasked, fine []string
	firstEarly, firstUnasked := "", ""
	for _, t := range s.Turns {
		for _, c := range t.Calls {
			a := p.about().like(c)
			if a == no || c.ChangeSeq == 0 && (c.Result == nil || c.Result.Status == trace.ToolDenied || c.Result.Status == trace.ToolCanceled) {
				continue
			}
			switch verdict, record := ran(c); {
			case verdict == Passed:
				fine = append(fine, record)
			case verdict == Failed && a == yes, verdict == Unclear && a == yes && p.MustAsk && done(c):
				early = append(early, record)
				if firstEarly == "" {
					firstEarly = c.Name
				}
			default:
				unasked = append(unasked, record)
				if firstUnasked == "" {
					firstUnasked = c.Name
				}
			}
		}
	}
	switch {
	case early != nil:
		return passIf(false, early, "%s ran before being allowed, first %s", calls(len(early)), quoted(firstEarly))
	case unasked != nil:
		return unclear(unasked, "no request on record allows %s, first %s", calls(len(unasked)), quoted(firstUnasked))
	case fine == nil:
		return passIf(true, s.ends(), "no such call ran")
	}
	return passIf(true, fine, "each such call was allowed before it ran")
}

// ran says whether a call that ran was allowed before its first effect, and which record shows it.
// The last answer before the effect counts. Nobody knows of a call without a request.
func ran(c *reader.Call) (Verdict, string) {
	if len(c.Requests) == 0 {
		return Unclear, c.Record
	}
	effect, record := c.ResultSeq, c.ResultRecord
	if c.ChangeSeq > 0 && (c.Result == nil || c.ChangeSeq < effect) {
		effect, record = c.ChangeSeq, c.ChangeRecord
	}
	var last *reader.Request
	for _, q := range c.Requests {
		answered := q.Response != nil && q.Response.Outcome == trace.Selected && q.ResponseSeq < effect
		if answered && (last == nil || q.ResponseSeq > last.ResponseSeq) {
			last = q
		}
	}
	switch {
	case last != nil && last.Response.Allowed():
		return Passed, last.ResponseRecord
	case done(c):
		return Failed, record
	}
	return Unclear, record // it failed: as it ran, or because it was refused
}

// done reports whether a call had an effect for certain.
func done(c *reader.Call) bool {
	return c.ChangeSeq > 0 || c.Result != nil && c.Result.Status == trace.ToolCompleted
}
