package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/session/alone"
	"github.com/tributary-dev/tributary/trace"
)

// byCase is who answers in the place of a person.
const byCase = "case"

// notAllowed is the reason of a denial for which the case has no rule.
const notAllowed = "not allowed by the case"

// policy is what a case allows. What no rule decides is denied.
func policy(c *eval.Case) permission.Policy {
	var p permission.Policy
	if c.Permissions != nil {
		p = *c.Permissions
	}
	p.Rules = append(slices.Clone(p.Rules), permission.Rule{Then: permission.Deny, Reason: notAllowed})
	return p
}

// answer answers the request in a record, if there is one that the policy has not decided.
func answer(ctx context.Context, s *alone.Session, c *eval.Case, r trace.Record) (err error) {
	if request, is := r.Payload.(trace.PermissionRequest); is && request.DecidedBy == "" {
		no := false
		_, err = s.Hub.Permit(ctx, s.ID, request.RequestID, session.Sender{By: byCase}, session.Choice{Approved: &no, Reason: notAllowed})
	}
	if question, is := r.Payload.(trace.Question); is {
		value, why := choose(c.Answers, question)
		if why != "" {
			err = s.Hub.Unattended(ctx, s.ID, question.QuestionID, why)
		} else {
			_, err = s.Hub.Answer(ctx, s.ID, question.QuestionID, session.Sender{By: byCase}, []string{value})
		}
	}
	if _, late := errors.AsType[*session.AnsweredError](err); late || errors.Is(err, session.ErrUnknownRequest) {
		return nil // the agent has taken it back
	}
	if err != nil {
		return fmt.Errorf("a request of the agent cannot be answered: %w", err)
	}
	return nil
}

// choose is the value of the first answer that fits the question, or why none does.
func choose(answers []eval.Answer, q trace.Question) (value, why string) {
	why = "the case has no answer to this question"
	for _, a := range answers {
		if !strings.Contains(q.Text, a.Question) {
			continue
		}
		if len(q.Choices) == 0 {
			return a.Choose, ""
		}
		for _, c := range q.Choices {
			if strings.EqualFold(strings.TrimSpace(c.Label), strings.TrimSpace(a.Choose)) {
				return c.Label, ""
			}
		}
		why = fmt.Sprintf("the case chooses %q, which is not offered", a.Choose)
	}
	return "", why
}
