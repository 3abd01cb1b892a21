package agenttest

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// BadStart is a session that cannot be opened, and what the error has to say.
type BadStart struct {
	Runtime agent.Runtime
	Config  agent.Config // an empty Cwd becomes a new directory
	Want    string
}

// BadStarts checks that each error is one sentence with the words that are wanted.
func BadStarts(t testing.TB, starts []BadStart) {
	t.Helper()
	for _, b := range starts {
		if b.Config.Cwd == "" {
			b.Config.Cwd = t.TempDir()
		}
		_, err := b.Runtime.Open(t.Context(), NewHost(), b.Config)
		if err == nil || !strings.Contains(err.Error(), b.Want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Open says %v\nwant one line with %s", err, b.Want)
		}
	}
}

// Ugly is a turn of an agent that misbehaves.
type Ugly struct {
	How   string // in the words of the adapter's fake
	Said  string // what is on record, white space aside
	Error string // of the end; "" if the turn completes
}

// UglyTurns plays each turn twice in one session: an agent that has ended is started
// again. The token begins the resume token that the agent gives.
func UglyTurns(t *testing.T, runtime func(how string) agent.Runtime, token string, turns []Ugly) {
	t.Helper()
	for _, u := range turns {
		t.Run(u.How, func(t *testing.T) {
			t.Parallel()
			host := NewHost()
			s := Open(t, runtime(u.How), host, agent.Config{})
			for range 2 {
				events, stop := Turn(t, s, host, Prompt("hello"))
				if (stop.Outcome == trace.OutcomeCompleted) != (u.Error == "") || stop.Error != u.Error {
					t.Errorf("the turn ended as %+v", stop)
				}
				if said := strings.TrimSpace(strings.ReplaceAll(Said(events), "\n", "")); said != u.Said { // a request ends a part
					t.Errorf("it said %q, want %q", said, u.Said)
				}
			}
			if !strings.HasPrefix(host.Token(), token) {
				t.Errorf("the resume token is %q", host.Token())
			}
		})
	}
}

// NoticesOnce plays two turns: the first tells of an error with the code, or of none if
// the code is "", and the second of none.
func NoticesOnce(t testing.TB, s agent.Session, host *Host, code string) {
	t.Helper()
	for _, want := range []string{code, ""} {
		events, stop := Turn(t, s, host, Prompt("hello"))
		if stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("the turn ended as %+v", stop)
		}
		var codes []string
		for _, e := range Each[trace.Error](events) {
			codes = append(codes, e.Code)
		}
		if told := strings.Join(codes, " "); told != want {
			t.Errorf("it reported %q, want %q", told, want)
		}
	}
}

// StopsDeaf stops a turn of an agent that does not listen. The turn ends as canceled all
// the same.
func StopsDeaf(t testing.TB, r agent.Runtime, prompt string) {
	t.Helper()
	host := NewHost()
	_, stop := TurnWhile(t, Open(t, r, host, agent.Config{}), host, Prompt(prompt), func(stop func(), r *Recorder) {
		Until[trace.MessageDelta](t, r)
		stop()
	})
	if stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("the turn ended as %+v", stop)
	}
}
