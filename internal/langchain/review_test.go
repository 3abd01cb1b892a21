package langchain_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/langchain"
	"github.com/tributary-dev/tributary/trace"
)

const (
	python = `{"action_requests":[{"name":"send","args":{"to":"a"},"description":"Send it?"}],"review_configs":[{"action_name":"other","allowed_decisions":["edit"]},{"action_name":"send","allowed_decisions":[%]}]}`
	script = `{"actionRequests":[{"name":"send","args":{"to":"a"},"description":"Send it?"}],"reviewConfigs":[{"actionName":"other","allowedDecisions":["edit"]},{"actionName":"send","allowedDecisions":[%]}]}`
	inbox  = `[{"action_request":{"action":"send","args":{"to":"a"}},"config":{%},"description":"Send it?"}]`
)

func with(value, allowed string) string { return strings.Replace(value, "%", allowed, 1) }

// answers are a yes, a no, a no that says why, a yes to another input, and none.
func answers() map[string]trace.PermissionResponse {
	yes := trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}
	no := trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.RejectOnce}
	why, other := no, yes
	why.Reason, other.UpdatedInput = "Later.", []byte(`{"to":"b"}`)
	return map[string]trace.PermissionResponse{"yes": yes, "no": no, "why": why, "other": other, "none": {}}
}

// TestDecisions: the graph gets no decision that it does not allow, in the words that it asked in.
func TestDecisions(t *testing.T) {
	t.Parallel()
	decision := func(d string) string { return `{"decisions":[` + d + `]}` }
	const (
		noWord  = `{"message":"The user rejected the call.","type":"reject"}`
		refused = `{"message":"The user wants another input: {\"to\":\"b\"}","type":"reject"}`
		another = `{"message":"The call may not run with this input.","type":"reject"}`
	)
	for name, c := range map[string]struct {
		value, options string
		decisions      map[string]string
	}{
		"Python": {with(python, `"approve","edit","reject","respond"`), "Approve, Reject", map[string]string{
			"yes": decision(`{"type":"approve"}`), "no": decision(noWord), "why": decision(`{"message":"Later.","type":"reject"}`),
			"other": decision(`{"edited_action":{"args":{"to":"b"},"name":"send"},"type":"edit"}`), "none": decision(`{"message":"The user did not answer.","type":"reject"}`),
		}},
		"JavaScript": {with(script, `"approve","edit","reject"`), "Approve, Reject", map[string]string{
			"yes": decision(`{"type":"approve"}`), "no": decision(noWord), "other": decision(`{"editedAction":{"args":{"to":"b"},"name":"send"},"type":"edit"}`),
		}},
		"no edits":                {with(python, `"approve","reject"`), "Approve, Reject", map[string]string{"yes": decision(`{"type":"approve"}`), "other": decision(refused)}},
		"no edits, in JavaScript": {with(script, `"approve","reject"`), "Approve, Reject", map[string]string{"yes": decision(`{"type":"approve"}`), "other": decision(refused)}},
		"no word about edits":     {with(python, ``), "Approve, Reject", map[string]string{"yes": decision(`{"type":"approve"}`), "no": decision(noWord), "other": decision(refused)}},
		"no configuration":        {`{"action_requests":[{"name":"send","args":{"to":"a"},"description":"Send it?"}]}`, "Approve, Reject", map[string]string{"yes": decision(`{"type":"approve"}`), "other": decision(refused)}},
		"no approval":             {with(python, `"reject"`), "Reject", map[string]string{"yes": decision(another), "no": decision(noWord), "other": decision(refused)}},
		"edits only": {with(python, `"edit","reject"`), "Approve with another input, Reject", map[string]string{
			"yes": decision(another), "no": decision(noWord), "other": decision(`{"edited_action":{"args":{"to":"b"},"name":"send"},"type":"edit"}`),
		}},
		"no refusal":               {with(python, `"approve","edit"`), "Approve", map[string]string{"yes": decision(`{"type":"approve"}`)}},
		"words as the result":      {with(python, `"respond"`), "Reject", map[string]string{"why": decision(`{"message":"Later.","type":"respond"}`), "no": decision(`{"message":"The user rejected the call.","type":"respond"}`)}},
		"before 1.0":               {`{"action_requests":[{"name":"send","arguments":{"to":"a"},"description":"Send it?"}]}`, "Approve, Reject", map[string]string{"yes": decision(`{"type":"approve"}`)}},
		"fields of another type":   {`{"action_requests":[{"name":"send","args":{"to":"a"},"description":"Send it?"}],"review_configs":[7,{"action_name":{},"allowed_decisions":"edit"}],"config":[]}`, "Approve, Reject", map[string]string{"other": decision(refused)}},
		"the inbox":                {with(inbox, `"allow_accept":true,"allow_edit":true,"allow_ignore":true,"allow_respond":true`), "Approve, Reject", map[string]string{"yes": `[{"args":null,"type":"accept"}]`, "no": `[{"args":null,"type":"ignore"}]`, "why": `[{"args":"Later.","type":"response"}]`, "other": `[{"args":{"action":"send","args":{"to":"b"}},"type":"edit"}]`}},
		"the inbox, and more":      {strings.Replace(with(inbox, `"allow_accept":true`), "]", `,{}]`, 1), "Approve", map[string]string{"yes": `[{"args":null,"type":"accept"}]`}},
		"the inbox without words":  {with(inbox, `"allow_accept":true,"allow_ignore":true,"allow_respond":false`), "Approve, Reject", map[string]string{"why": `[{"args":null,"type":"ignore"}]`, "other": `[{"args":null,"type":"ignore"}]`}},
		"the inbox with words":     {with(inbox, `"allow_respond":true`), "Reject", map[string]string{"no": `[{"args":"The user rejected the call.","type":"response"}]`, "yes": `[{"args":"The call may not run with this input.","type":"response"}]`}},
		"the inbox, with no rules": {with(inbox, ``), "Approve, Reject", map[string]string{"yes": `[{"args":null,"type":"accept"}]`, "other": `[{"args":null,"type":"ignore"}]`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := langchain.Read("i", []byte(c.value))
			if len(r.Actions) != 1 {
				t.Fatalf("there are %d actions", len(r.Actions))
			}
			a := r.Actions[0]
			if a.ID != "i:0" || a.Name != "send" || a.Title != "Send it?" || string(a.Args) != `{"to":"a"}` {
				t.Errorf("the action is %+v", a)
			}
			var options []string
			for _, o := range a.Options() {
				options = append(options, o.Name)
			}
			if got := strings.Join(options, ", "); got != c.options {
				t.Errorf("the options are %s", got)
			}
			for answer, want := range c.decisions {
				if got := string(agentkit.Encode(r.Decisions(map[string]trace.PermissionResponse{"i:0": answers()[answer]}))); got != want {
					t.Errorf("the decision after %q is %s and not %s", answer, got, want)
				}
			}
		})
	}
}

// TestEachActionHasADecisionOfItsOwn: what is allowed for one action says nothing about the next.
func TestEachActionHasADecisionOfItsOwn(t *testing.T) {
	t.Parallel()
	r := langchain.Read("i", []byte(`{"action_requests":[{"name":"send"},{"name":"drop","args":null},{}],"review_configs":[{"action_name":"send","allowed_decisions":["edit"]}]}`))
	got := string(agentkit.Encode(r.Decisions(map[string]trace.PermissionResponse{"i:0": answers()["other"], "i:1": answers()["other"]})))
	if want := `{"decisions":[{"edited_action":{"args":{"to":"b"},"name":"send"},"type":"edit"},{"message":"The user wants another input: {\"to\":\"b\"}","type":"reject"},{"message":"The user did not answer.","type":"reject"}]}`; got != want {
		t.Errorf("the decisions are %s", got)
	}
	if got := string(r.Actions[1].Args); got != "{}" {
		t.Errorf("an action without an input has %s", got)
	}
}

func TestOtherInterruptsAreNoReviews(t *testing.T) {
	t.Parallel()
	for _, value := range []string{``, `null`, `"go on?"`, `7`, `{}`, `[]`, `[1,null,{}]`, `{"question":"Which?"}`, `{"action_requests":[]}`, `{"action_requests":"x"}`, `{"action_request":{}}`, `{"action_request":"send"}`} {
		if r := langchain.Read("i", []byte(value)); len(r.Actions) > 0 {
			t.Errorf("%s asks for %+v", value, r.Actions)
		}
	}
}
