package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// tokens are the counts of usage, and who used them.
func tokens(u trace.Usage) [5]int64 {
	return [5]int64{u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens}
}

// used is the usage of each turn: what the steps add up to, of all actors, and what the turn says.
func used(records []trace.Record) (steps int, sum, turn trace.Usage) {
	for _, r := range records {
		if u, is := r.Payload.(trace.Usage); is && u.Scope == trace.UsageStep {
			steps, sum = steps+1, sum.Plus(u)
		} else if is && u.Scope == trace.UsageTurn {
			turn = u
		}
	}
	return steps, sum, turn
}

func TestTheStepsOfAllActorsAddUpToTheTurn(t *testing.T) {
	t.Parallel()
	both := 0
	for name, recording := range recordings().All(t) {
		for i, records := range recordings().Play(t, recording).Turns {
			steps, sum, turn := used(records)
			if steps == 0 {
				continue
			}
			both++
			if tokens(sum) != tokens(turn) || turn.CostUSD == nil {
				t.Errorf("%s: the steps of turn %d have used %v, and the turn %v", name, i+1, tokens(sum), tokens(turn))
			}
		}
	}
	if both < 30 {
		t.Errorf("%d turns have both", both)
	}
}

// spent is a whole message that is not streamed, of the agent or of a call's sub-agent.
func spent(parent, id, model string, input, output int) string {
	return out(fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":%q,"message":{"id":%q,"model":%q,"content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d,"output_tokens":%d}}}`,
		parent, id, model, id, input, output))
}

// taskResult is the result of the call t1 of a sub-agent, with the usage of its last message.
func taskResult(input, output int) string {
	return out(fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]},"tool_use_result":{"agentId":"x","resolvedModel":"m","usage":{"input_tokens":%d,"output_tokens":%d}}}`,
		input, output))
}

// sums ends a turn. models are what was used since the result before, by model.
func sums(models ...string) string {
	return out(`{"type":"result","subtype":"success","terminal_reason":"completed","usage":{"input_tokens":10,"output_tokens":1},"model_usage_since_last_result":{` + strings.Join(models, ",") + `}}`)
}

func sumOf(key, model string, input, output int, dollars float64) string {
	return fmt.Sprintf(`%q:{"inputTokens":%d,"outputTokens":%d,"costUSD":%g,"canonicalModel":%q}`, key, input, output, dollars, model)
}

// spending tells the usage on record, one a line.
func spending(records []trace.Record) (lines []string) {
	for _, r := range records {
		u, is := r.Payload.(trace.Usage)
		if !is || u.Scope == trace.UsageSession {
			continue
		}
		line := fmt.Sprintf("%s %s %s %d/%d", r.Turn, r.Actor, u.Scope, u.InputTokens, u.OutputTokens)
		if u.CostUSD != nil {
			line += fmt.Sprintf(" $%.1f", *u.CostUSD)
		}
		lines = append(lines, strings.TrimSpace(line+" "+u.Model))
	}
	return lines
}

func TestUsage(t *testing.T) {
	t.Parallel()
	call := assistantLine("a", `{"type":"tool_use","id":"t1","name":"Task","input":{}}`)
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"a sub-agent's newest message gets the output that only the result knows", []string{
			hello, call, spent("t1", "s1", "m", 10, 1), spent("t1", "s2", "m", 20, 1), spent("", "b", "m", 5, 1), sums(sumOf("m", "m", 35, 50, 0.5)),
		}, []string{
			"turn-1 subagent:t1 step 10/1 m", "turn-1 subagent:t1 step 20/1 m", "turn-1 agent step 5/48 m", "turn-1 agent turn 35/50 $0.5 m",
		}},
		{"a message in several blocks counts once", []string{
			hello, call, spent("t1", "s1", "m", 10, 1), spent("t1", "s1", "m", 10, 1), sums(sumOf("m", "m", 10, 7, 0.5)),
		}, []string{"turn-1 subagent:t1 step 10/7 m", "turn-1 agent turn 10/7 $0.5 m"}},
		{"models have sums of their own, and names with endings", []string{
			hello, call, spent("t1", "s1", "small", 10, 1), spent("", "b", "big", 5, 1), sums(sumOf("big[1m]", "big", 5, 3, 0.4), sumOf("small", "", 10, 7, 0.1)),
		}, []string{"turn-1 subagent:t1 step 10/7 small", "turn-1 agent step 5/3 big", "turn-1 agent turn 15/10 $0.5"}},
		{"output of a model call without a message belongs to no message", []string{
			hello, call, spent("t1", "s1", "m", 10, 1), sums(sumOf("m", "m", 910, 907, 0.5)),
		}, []string{"turn-1 subagent:t1 step 10/1 m", "turn-1 agent turn 910/907 $0.5 m"}},
		{"the last message of a sub-agent is in the result of its call only", []string{
			hello, call, spent("t1", "s1", "m", 10, 1), spent("t1", "s2", "m", 20, 1), taskResult(30, 6), sums(sumOf("m", "m", 60, 20, 0.5)),
		}, []string{"turn-1 subagent:t1 step 10/1 m", "turn-1 subagent:t1 step 20/13 m", "turn-1 subagent:t1 step 30/6 m", "turn-1 agent turn 60/20 $0.5 m"}},
		{"the last message of a sub-agent was shown, too", []string{
			hello, call, spent("t1", "s1", "m", 10, 1), spent("t1", "s2", "m", 30, 1), taskResult(30, 6), sums(sumOf("m", "m", 40, 7, 0.5)),
		}, []string{"turn-1 subagent:t1 step 10/1 m", "turn-1 subagent:t1 step 30/6 m", "turn-1 agent turn 40/7 $0.5 m"}},
		{"a sub-agent of one message", []string{hello, call, taskResult(30, 6), sums(sumOf("m", "m", 30, 6, 0.5))}, []string{
			"turn-1 subagent:t1 step 30/6 m", "turn-1 agent turn 30/6 $0.5 m",
		}},
		{"a message that a result divides", []string{
			hello, call, spent("t1", "s1", "m", 10, 4), sums(sumOf("m", "m", 10, 4, 0.5)),
			spent("t1", "s1", "m", 10, 4), spent("t1", "s2", "m", 20, 5), sums(sumOf("m", "m", 20, 6, 0.5)),
		}, []string{
			"turn-1 subagent:t1 step 10/4 m", "turn-1 agent turn 10/4 $0.5 m",
			"turn-2 subagent:t1 step 20/6 m", "turn-2 agent turn 20/6 $0.5 m",
		}},
		{"an older Claude Code, whose result knows the agent's own tokens only", []string{
			hello, call, spent("t1", "s1", "m", 10, 4), sums(),
		}, []string{"turn-1 subagent:t1 step 10/4 m", "turn-1 agent turn 20/5 m"}},
		{"two results of one turn", []string{
			hello, spent("", "a", "m", 10, 4),
			strings.Replace(sums(sumOf("m", "m", 10, 4, 0.5)), `"result",`, `"result","queued_turn_count":1,"origin":{"kind":"task-notification"},`, 1),
			spent("", "b", "m", 20, 5), sums(sumOf("m", "m", 20, 6, 0.5)),
		}, []string{
			"turn-1 agent step 10/4 m", "turn-1 agent turn 10/4 $0.5 m", "turn-1 agent step 20/6 m", "turn-1 agent turn 30/10 $1.0 m",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, spending(recordings().Play(t, []byte(strings.Join(c.lines, "\n"))).Records)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
