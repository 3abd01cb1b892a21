//go:build linux

package agents_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

// TestRealAgentsTellTheSame: each agent plays every script in one session, and
// the Trace has the same of it, apart from what is known of the agent.
func TestRealAgentsTellTheSame(t *testing.T) {
	var found []row
	for _, k := range chosen() {
		t.Run(k.Name, func(t *testing.T) {
			if r, ok := examine(t, k); ok {
				found = append(found, r)
			}
		})
	}
	checkTable(t, found)
}

// examine runs one agent through all scripts.
func examine(t *testing.T, k realagent.Kind) (r row, ok bool) {
	before := strays()
	b := newBench(t, k)
	b.start()
	r = row{kind: k}
	one := func(s script) (ended bool) {
		ok = t.Run(s.name, func(t *testing.T) {
			if d := known()[k.Name][s.name]; d.skip {
				ended = true
				t.Skip(d.why)
			}
			turn := b.play(t, s, cmp.Or(known()[k.Name][s.name].limit, endless))
			ended = true
			b.checkTurn(t, s, turn)
		}) && ok
		return ended
	}
	ok = true
	for _, s := range scripts() {
		if !one(s) {
			return r, false // the session is of no use any more
		}
	}
	if known()[k.Name]["resume"].nextMinute {
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	}
	b.restart()
	one(recall())
	r.kinds = kindsOf(b.seen)
	b.end()
	b.checkNothingLeft()
	if n := strays() - before; n > 0 && !slices.Contains(callsHome(), k.Name) {
		t.Errorf("%s wanted to reach the world %d times", k.Name, n)
	}
	return r, ok && !t.Failed()
}

// signaled reports a fault of Qwen's own: its terminal says of a command that it has ended with
// status 0 and by a signal, and so Qwen takes the call for failed.
func signaled(agent string, turn []trace.Record) bool {
	return agent == "qwen" && slices.ContainsFunc(turn, func(r trace.Record) bool {
		result, is := r.Payload.(trace.ToolResult)
		return is && result.Status == trace.ToolFailed && succeededBySignal.MatchString(result.Error+string(result.Output))
	})
}

var succeededBySignal = regexp.MustCompile(`Exit Code: 0\W(?:n)?\s*Signal: [1-9]|"exitCode":0,"signal":[1-9]`) //nolint:gochecknoglobals // compiled once

func (b *bench) checkTurn(t *testing.T, s script, turn []trace.Record) {
	t.Helper()
	want, why := expected(b.agent.Name, s)
	got := shapeOf(turn)
	if slices.Contains(textComesLate(), b.agent.Name) {
		got, want = strings.ReplaceAll(got, "message ", ""), strings.ReplaceAll(want, "message ", "")
	}
	if signaled(b.agent.Name, turn) {
		t.Log("Qwen's terminal reports a signal for a command that has succeeded, as it does under load")
		got = strings.ReplaceAll(got, "tool_result:failed", "tool_result:completed")
	}
	if want != "" && got != want {
		t.Errorf("the turn's shape is\n  %s\nwant%s\n  %s", got, why, want)
		for _, r := range turn {
			t.Logf("%T %+v", r.Payload, r.Payload)
		}
	}
	open := map[string]bool{}
	last := ""
	for i, r := range turn {
		switch p := r.Payload.(type) {
		case trace.ToolCall:
			open[p.ToolCallID] = true
		case trace.ToolResult:
			delete(open, p.ToolCallID)
		case trace.Message:
			last += p.Text + "\n"
		case trace.Stop:
			if i != len(turn)-1 {
				t.Errorf("the turn ends at record %d of %d", i+1, len(turn))
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without a result: %v", open)
	}
	if !strings.Contains(last, s.text) && !known()[b.agent.Name][s.name].silent {
		t.Errorf("the agent said %q; want %q in it", last, s.text)
	}
	files := b.files()
	if s.made != "" && slices.Contains(files, s.made) == known()[b.agent.Name][s.name].refused {
		t.Errorf("the workspace holds %v; want %s in it", files, s.made)
	}
	if s.missing != "" && slices.Contains(files, s.missing) && !exempt(b.agent.Name, s) {
		t.Errorf("the workspace holds %v; %s was refused", files, s.missing)
	}
}

// checkProcesses checks that no process remains when the gateway has ended.
func (b *bench) checkProcesses() {
	b.Helper()
	deadline := time.Now().Add(time.Minute)
	for len(b.processes()) > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if left := b.processes(); len(left) > 0 {
		b.Errorf("processes are left behind:\n%s", strings.Join(left, "\n"))
	}
}

// checkNothingLeft checks the processes, and what the scripts left in the workspace.
func (b *bench) checkNothingLeft() {
	b.Helper()
	b.checkProcesses()
	want := []string{"hello.txt"}
	for _, s := range scripts() {
		if s.made != "" && !known()[b.agent.Name][s.name].refused {
			want = append(want, s.made)
		}
		if exempt(b.agent.Name, s) {
			want = append(want, s.missing)
		}
	}
	slices.Sort(want)
	if got := b.files(); !slices.Equal(got, want) {
		b.Errorf("the workspace holds %v; want %v", got, want)
	}
	if text, err := os.ReadFile(filepath.Join(b.agent.Dir, "hello.txt")); err != nil || string(text) != realagent.HelloText {
		b.Errorf("hello.txt holds %q, %v", text, err)
	}
}

func kindsOf(records []trace.Record) map[trace.Kind]bool {
	kinds := map[trace.Kind]bool{}
	for _, r := range records {
		kinds[r.Payload.Kind()] = true
	}
	return kinds
}

func because(why string) string { return fmt.Sprintf(" (%s)", why) }
