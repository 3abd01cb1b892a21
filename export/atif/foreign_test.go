package atif_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// steps is a trajectory with a prompt and these steps, and what stands behind the steps.
func steps(rest string, all ...string) string {
	return `{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"x","version":"1"},"steps":[` + strings.Join(append([]string{`{"source":"user","message":"go"}`}, all...), ",") + `]` + rest + `}`
}

// turns are those of the imported session.
func turns(t *testing.T, text string) (all []*reader.Turn) {
	t.Helper()
	records := exporttest.Durable(imported(t, text))
	o, err := reader.Survey(records())
	if err != nil {
		t.Fatal(err)
	}
	for turn, err := range reader.Turns(records(), o) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, turn)
	}
	return all
}

// No call of a trajectory is lost, whatever its id is and wherever it stands. What the file does not
// have is said.
func TestEveryCallIsImported(t *testing.T) {
	t.Parallel()
	const ls, rm = `{"tool_call_id":"1","function_name":"ls","arguments":{}}`, `{"tool_call_id":"1","function_name":"rm","arguments":{}}`
	calls := func(source string, all ...string) string {
		return fmt.Sprintf(`{"source":%q,"message":"m","tool_calls":[%s]}`, source, strings.Join(all, ","))
	}
	ref := func(refs string, all ...string) string {
		return fmt.Sprintf(`{"source":"agent","message":"","tool_calls":[%s],"observation":{"results":[{"source_call_id":"1","content":"ok","subagent_trajectory_ref":%s}]}}`, strings.Join(all, ","), refs)
	}
	sub := func(ids, below string, all ...string) string {
		return fmt.Sprintf(`{%s,"agent":{"name":"y","version":"1"},"steps":[%s]%s}`, ids, strings.Join(all, ","), below)
	}
	subs := func(all ...string) string { return `,"subagent_trajectories":[` + strings.Join(all, ",") + `]` }
	const t1, t2 = `"trajectory_id":"T1"`, `"trajectory_id":"T2"`
	noID := func(call string) string { return strings.Replace(call, `"tool_call_id":"1",`, "", 1) }
	for name, c := range map[string]struct{ text, want string }{
		"one id in a step":        {steps("", calls("agent", ls, rm)), "ls rm"},
		"one id in two steps":     {steps("", calls("agent", ls), calls("agent", rm)), "ls rm"},
		"no id":                   {steps("", calls("agent", noID(ls), noID(rm))), "ls rm"},
		"a taken id":              {steps("", calls("agent", strings.Replace(ls, `"1"`, `"1~2"`, 1), ls, rm)), "ls ls rm"},
		"of an assistant":         {steps("", calls("assistant", ls)), "ls"},
		"of the system":           {steps("", calls("system", ls)), "ls"},
		"of the user":             {steps("", calls("user", ls)), "ls"},
		"of nobody":               {steps("", `{"message":"m","tool_calls":[`+ls+`]}`), "ls"},
		"copied":                  {steps("", strings.Replace(calls("agent", rm), "{", `{"is_copied_context":true,`, 1), calls("agent", ls)), "ls"},
		"a sub-agent's":           {steps(subs(sub(t1, "", calls("agent", rm))), ref(`[{`+t1+`}]`, ls)), "ls rm"},
		"one reference":           {steps(subs(sub(t1, "", calls("agent", rm))), ref(`{`+t1+`}`, ls)), "ls rm"},
		"two references":          {steps(subs(sub(t1, "", calls("agent", rm))), ref(`[{`+t1+`},{`+t1+`}]`, ls)), "ls rm"},
		"by its session":          {steps(subs(sub(`"session_id":"S2"`, "", calls("agent", rm))), ref(`[{"session_id":"S2"}]`, ls)), "ls rm"},
		"without reference":       {steps(subs(sub(t1, "", calls("agent", rm)), sub(t1, "", calls("agent", rm)), sub(`"a":1`, "", calls("agent", rm))), calls("agent", ls)), "ls rm rm rm"},
		"below another":           {steps(subs(sub(t1, subs(sub(t2, "", calls("agent", rm))), ref(`[{`+t2+`}]`, ls))), ref(`[{`+t1+`}]`, ls)), "ls ls rm"},
		"below, beside the other": {steps(subs(sub(t1, "", ref(`[{`+t2+`}]`, ls)), sub(t2, "", calls("agent", rm))), ref(`[{`+t1+`}]`, ls)), "ls ls rm"},
		"below, no reference":     {steps(subs(sub(t1, subs(sub(t2, "", calls("agent", rm))), calls("agent", ls))), ref(`[{`+t1+`}]`, ls)), "ls ls rm"},
		"in a circle":             {steps(subs(sub(t1, "", ref(`[{`+t1+`}]`, rm))), ref(`[{`+t1+`}]`, ls)), "ls rm"},
		"of no call":              {steps(subs(sub(t1, "", calls("agent", rm))), ref(`[{`+t1+`}]`)), "rm"},
		"not there":               {steps("", ref(`[{`+t1+`}]`, ls)), "ls; The trajectory T1 of a sub-agent is not in the file."},
		"in another file":         {steps("", ref(`[{"trajectory_path":"b.json"}]`, ls)), "ls; The trajectory b.json of a sub-agent is not in the file."},
		"left out":                {steps(`,"extra":{"left_out":["title","sub-agents"]}`, calls("agent", ls)), "ls; The trajectory was written without: title, sub-agents."},
		"strange extras":          {steps(`,"extra":5`, `{"source":"agent","extra":{"stop":"x","questions":{}},"tool_calls":[{"tool_call_id":"1","function_name":"ls","arguments":{},"extra":{"kind":5,"permissions":"no"}}]}`), "ls"},
	} {
		var got []string
		untold := ""
		for _, turn := range turns(t, c.text) {
			for _, call := range turn.Calls {
				got = append(got, call.RawName)
			}
			for _, n := range turn.Notes {
				if e, is := n.Payload.(trace.Error); is && e.Code == reader.Untold {
					untold += "; " + e.Message
				}
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " ") + untold; text != c.want {
			t.Errorf("%s: %s, not %s", name, text, c.want)
		}
	}
}

// A result is of its call, also if several calls have one id.
func TestResultsOfCallsWithOneID(t *testing.T) {
	t.Parallel()
	all := turns(t, steps("", `{"source":"agent","tool_calls":[{"tool_call_id":"1","function_name":"a","arguments":"{\"x\":1}"},{"tool_call_id":"1","function_name":"b","arguments":"ls"},{"tool_call_id":"2","function_name":"c"}],
		"observation":{"results":[{"source_call_id":"1","content":"of a"},{"source_call_id":"1","content":"of b"},{"source_call_id":"1","content":"of nobody"}]}}`))
	var got []string
	for _, c := range all[0].Calls {
		got = append(got, fmt.Sprintf("%s %s %s %s", c.RawName, c.Input, c.Result.Status, c.Result.Output))
	}
	if text := strings.Join(got, "; "); text != `a {"x":1} completed "of a"; b "ls" completed "of b"; c null canceled null` {
		t.Error(text)
	}
}

// The sums of a trajectory count if its steps do not tell all.
func TestSums(t *testing.T) {
	t.Parallel()
	const told, silent = `{"source":"agent","message":"x","metrics":{"prompt_tokens":10.0,"completion_tokens":5,"cost_usd":0.5}}`, `{"source":"agent","message":"y"}`
	sums := func(prompt, completion int, cost string) string {
		return fmt.Sprintf(`,"final_metrics":{"total_prompt_tokens":%d,"total_completion_tokens":%d,"total_cost_usd":%s}`, prompt, completion, cost)
	}
	sub := func(rest string) string {
		return `,"subagent_trajectories":[{"trajectory_id":"T","agent":{"name":"y","version":"1"},"steps":[` + told + `,` + silent + `]` + rest + `}]`
	}
	copied := strings.Replace(told, "{", `{"is_copied_context":true,`, 1)
	for name, c := range map[string]struct{ text, want string }{
		"no sums":             {steps("", told, silent), "10 5 0.5"},
		"the same":            {steps(sums(10, 5, "0.5"), told, silent), "10 5 0.5"},
		"less":                {steps(sums(1, 1, "0.1"), told, silent), "10 5 0.5"},
		"more":                {steps(sums(100, 50, "2"), told, silent), "100 50 2"},
		"no step tells":       {steps(sums(100, 50, "2"), silent, silent), "100 50 2"},
		"more, two turns":     {steps(sums(100, 50, "2"), told, `{"source":"user","message":"and"}`, told), "100 50 2"},
		"with a sub-agent":    {steps(sub("")+sums(20, 10, "1"), told), "20 10 1"},
		"more of a sub-agent": {steps(sub(sums(30, 15, "1")), told), "40 20 1.5"},
		"more of both":        {steps(sub(sums(30, 15, "1"))+sums(50, 25, "3"), told), "50 25 3"},
		"copied":              {steps("", copied, told), "10 5 0.5"},
		"copied, in the sums": {steps(sums(20, 10, "1"), copied, told), "10 5 0.5"},
		"huge":                {steps("", `{"source":"agent","message":"x","metrics":{"prompt_tokens":1e300,"completion_tokens":5}}`), "281474976710656 5 0"},
	} {
		var sum trace.Usage
		for _, turn := range turns(t, c.text) {
			for _, a := range turn.Actors {
				for _, st := range a.Steps {
					if st.Usage != nil {
						sum = sum.Plus(st.Usage.Usage)
					}
				}
			}
		}
		cost := 0.0
		if sum.CostUSD != nil {
			cost = *sum.CostUSD
		}
		if got := fmt.Sprint(sum.InputTokens, sum.OutputTokens, cost); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

// What a person decided, what the agent asked and how a turn ended come back from an export, and
// what was left out is said.
func TestWhatOnlyAnExtraTellsComesBack(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", trace.Stop{Reason: "api_error", Outcome: trace.OutcomeFailed, Class: trace.ClassOverloaded, Error: "overloaded"}, func(b *trace.Builder) {
		b.StepStart(trace.Step{})
		b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(`{"command":"rm"}`)})
		b.Emit(trace.ToolCall{ToolCallID: "d", RawName: "Bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(`{"command":"ls"}`)})
		for _, id := range []string{"c", "d"} {
			b.PermissionRequest(trace.PermissionRequest{RequestID: id, ToolCallID: id, Title: "may I", Options: []trace.PermissionOption{{ID: "yes", Name: "Yes", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
		}
		b.PermissionResponse(trace.PermissionResponse{RequestID: "c", Outcome: trace.Selected, ChosenOption: "yes", By: "ann", UpdatedInput: json.RawMessage(`{"command":"edited"}`)})
		b.Emit(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: json.RawMessage(`"x"`)})
		b.Emit(trace.Error{Code: "e1", Message: "it broke"})
		b.Question(trace.Question{QuestionID: "q", Text: "which?"})
		b.Answer(trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{"this"}})
		b.StepEnd()
	})
	text, err := write(t, s.Records, atif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := turns(t, text)
	turn := all[0]
	var requests []string
	for _, q := range turn.Requests {
		requests = append(requests, fmt.Sprintf("%s %s %s %s %s %s", q.Call.ToolCallID, q.Title, q.Response.Outcome, q.Response.OptionKind, q.Response.By, q.Response.UpdatedInput))
	}
	if got := strings.Join(requests, "; "); got != `c may I selected allow_once ann {"command":"edited"}; d may I canceled   ` {
		t.Error(got)
	}
	if turn.Stop.Class != trace.ClassOverloaded || turn.Stop.Error != "overloaded" || !turn.Stop.Infrastructure() || len(turn.Questions) != 1 || turn.Questions[0].Answer.Values[0] != "this" || turn.Notes[0].Payload != (trace.Error{Code: "e1", Message: "it broke"}) {
		t.Errorf("%+v %+v %+v", turn.Stop, turn.Questions, turn.Notes)
	}
	if text, _ := write(t, s.Records, atif.Options{Filter: redact.Filter{NoSubagents: true, NoDenied: true, Turn: turn.ID}}); !strings.Contains(text, `"left_out":["other turns","denied calls","sub-agents"]`) {
		t.Error(text)
	}
}

// What a later turn asked is a part of its call, and is redacted with it.
func TestRequestsOfLaterTurns(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	call := trace.ToolCall{ToolCallID: "c", RawName: "Bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(`{"command":"ls"}`)}
	call.Continues = s.Turn(t.Context(), "go", done(), func(b *trace.Builder) { b.Emit(call) })
	s.Turn(t.Context(), "on", done(), func(b *trace.Builder) {
		b.Emit(call)
		b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "a title of many words", Options: []trace.PermissionOption{{ID: "yes", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: "r", Outcome: trace.Selected, ChosenOption: "yes", By: "ann", UpdatedInput: json.RawMessage(`{"command":"pwd"}`)})
		b.Emit(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
	})
	text, err := write(t, s.Records, atif.Options{})
	if err != nil || count(read(t, text)) != 1 || !strings.Contains(text, `"updated_input":{"command":"pwd"}`) || !strings.Contains(text, `"title":"a title of many words"`) {
		t.Errorf("%v %s", err, text)
	}
	text, err = write(t, s.Records, atif.Options{Filter: redact.Filter{Drop: redact.Classes()}})
	if err != nil || strings.Contains(text, "pwd") || strings.Contains(text, "many words") || strings.Contains(text, "ann") || !strings.Contains(text, `"option_kind":"allow_once"`) {
		t.Errorf("%v %s", err, text)
	}
}
