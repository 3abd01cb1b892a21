package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// run prompts and waits for the end.
func (b *bench) run(id, words string) session.Turn {
	b.t.Helper()
	turn := b.say(id, words)
	b.wait(turn)
	return turn
}

// regenerate runs the answer to a message again, the last one if id is empty.
func (b *bench) regenerate(id string) session.Turn {
	b.t.Helper()
	turn, err := b.Prompt(b.t.Context(), "s", session.Prompt{Regenerate: true, Of: id, By: "ada"})
	if err != nil {
		b.t.Fatal(err)
	}
	return turn
}

// The agent does not remember removed messages, whenever the rewind happens.
//
//evidence:for promise-rewind
func TestTheAgentForgetsWhatIsTakenBack(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(b *bench)
		want string // that the agent remembers
		ids  string // in history
	}{
		{"the last one is regenerated", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.wait(b.regenerate(""))
		}, "one|two", "u1 A u2 A"},
		{"an earlier one is regenerated", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.run("u3", "three")
			b.wait(b.regenerate("u2"))
		}, "one|two", "u1 A u2 A"},
		{"by the answer's id", func(b *bench) {
			first := b.run("u1", "one")
			b.run("u2", "two")
			b.wait(b.regenerate(first.MessageID))
		}, "one", "u1 A"},
		{"one is edited", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.run("u1", "uno")
			b.run("u4", "four")
		}, "uno|four", "u1 A u4 A"},
		{"again and again", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			b.wait(b.regenerate(""))
			b.run("u3", "three")
			b.wait(b.regenerate("u2"))
			b.wait(b.regenerate(""))
		}, "one|two", "u1 A u2 A"},
		{"in the middle of its run", func(b *bench) {
			b.run("u1", "one")
			b.say("u2", "slow two")
			time.Sleep(time.Second)
			b.run("u2", "deux")
		}, "one|deux", "u1 A u2 A"},
		{"twice, the second before the first has begun", func(b *bench) {
			b.run("u1", "one")
			b.say("u2", "slow two")
			time.Sleep(time.Second)
			b.regenerate("u1")
			b.wait(b.regenerate("u1"))
		}, "one", "u1 A"},
		{"and the new one is stopped before it has begun", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "slow two")
			again := b.say("u1", "slow uno")
			if _, _, err := b.StopTurn(b.t.Context(), "s", again.ID, "ada"); err != nil {
				b.t.Error(err)
			}
			b.wait(again)
			b.wait(b.regenerate("u1"))
		}, "slow uno", "u1 A"},
		{"one that waits is edited: who is before it goes on", func(b *bench) {
			first := b.say("u1", "slow one")
			b.say("u2", "two")
			b.say("u3", "three")
			b.run("u3", "trois")
			if s := stopOf(b.t, b.wait(first)); s.Outcome != trace.OutcomeCompleted {
				b.t.Errorf("the turn before ended as %+v", s)
			}
		}, "slow one|two|trois", "u1 A u2 A u3 A"},
		{"with what the agent did by itself", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "task")
			time.Sleep(2 * time.Second)
			b.run("u3", "three")
			b.wait(b.regenerate("u3"))
		}, "one|task|report|three", "u1 A u2 A A u3 A"},
		{"before what the agent did by itself", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "task")
			time.Sleep(2 * time.Second)
			b.run("u2", "two")
		}, "one|two", "u1 A u2 A"},
		{"while the agent is at it by itself", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "task")
			b.run("u2", "two")
			time.Sleep(2 * time.Second)
		}, "one|two", "u1 A u2 A"},
		{"when the agent has been closed", func(b *bench) {
			b.run("u1", "one")
			b.run("u2", "two")
			time.Sleep(time.Hour)
			b.wait(b.regenerate(""))
		}, "one|two", "u1 A u2 A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, served(notebook{}))
				defer b.close()
				c.do(b)
				if ids := b.history(); ids != c.ids {
					t.Errorf("history %s, want %s", ids, c.ids)
				}
				if all, code := b.remembers(); all != c.want || code != "" {
					t.Errorf("the agent remembers %q %s, want %q", all, code, c.want)
				}
			})
		})
	}
}

//evidence:for promise-rewind
func TestRewindAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, served(notebook{}))
		b.run("u1", "one")
		b.run("u2", "two")
		b.run("u3", "three")
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		next := benchOn(t, log, served(notebook{}))
		defer next.close()
		next.wait(next.regenerate("u2"))
		if all, code := next.remembers(); all != "one|two" || code != "" {
			t.Errorf("the agent remembers %q %s", all, code)
		}
	})
}

// A prompt that was taken and not yet run is not lost on its way back: the next
// process opens the agent where it was to go.
func TestRestartBeforeTheRewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := eventlog.New(memlog.New())
		b := benchOn(t, log, served(notebook{}))
		b.run("u1", "one")
		b.run("u2", "two")
		b.say("u2", "slow deux")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Close(ctx); err != nil {
			t.Fatal(err)
		}
		next := benchOn(t, log, served(notebook{}))
		defer next.close()
		next.run("u2", "zwei")
		if all, code := next.remembers(); all != "one|zwei" || code != "" {
			t.Errorf("the agent remembers %q %s", all, code)
		}
	})
}

// Where the agent cannot go back the turn runs, and says so.
//
//evidence:for promise-rewind
func TestTheAgentCannotGoBack(t *testing.T) {
	for _, c := range []struct {
		name        string
		runtime     agent.Runtime
		first, last string // what is said when that is regenerated
	}{
		{"it is no Rewinder", stubborn{notebook{}}, "not_rewound", "not_rewound"},
		{"it has no tokens", notebook{mute: true}, "", "not_rewound"},
		{"its tokens name no moment", notebook{clumsy: true}, "not_rewound", "not_rewound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, served(c.runtime))
				defer b.close()
				b.run("u1", "one")
				b.run("u2", "two")
				for _, again := range []struct{ id, want string }{{"u2", c.last}, {"u1", c.first}} {
					told := ""
					records := b.wait(b.regenerate(again.id))
					for _, r := range records {
						if e, is := r.Payload.(trace.Error); is {
							told += e.Code
						}
					}
					if told != again.want || stopOf(t, records).Outcome != trace.OutcomeCompleted {
						t.Errorf("%s run again: told %q, want %q", again.id, told, again.want)
					}
				}
				if _, code := b.remembers(); code != "" {
					t.Errorf("it is said again in the next turn: %s", code)
				}
			})
		})
	}
}

// The kinds of requests, see docs/reference/stream.md: history is cut only on an explicit
// request, and no user removes another's messages.
//
//evidence:for promise-rewind
func TestWhatIsTakenBack(t *testing.T) {
	const kept = "u1 A u2 A b3 A u4 A u5 A"
	edit := func(id, words string) session.Prompt { return session.Prompt{Message: text(id, words)} }
	again := func(of, id, words string) session.Prompt {
		p := session.Prompt{Regenerate: true, Of: of, Message: text(id, words)}
		if id == "" {
			p.Message = trace.UserMessage{}
		}
		return p
	}
	for _, c := range []struct {
		name string
		by   string
		p    session.Prompt
		err  error
		ids  string
	}{
		{"regenerate", "ada", again("", "u5", "five"), nil, kept},
		{"regenerate of nothing in particular", "ada", again("", "", ""), nil, kept},
		{"regenerate by a page that is behind", "ada", again("", "u4", "four"), session.ErrStale, kept},
		{"regenerate by a page that is far behind", "ada", again("", "u1", "one"), session.ErrStale, kept},
		{"regenerate with an answer that is gone", "ada", again("msg_gone", "u4", "four"), session.ErrStale, kept},
		{"regenerate with an answer that is gone, of the last", "ada", again("msg_gone", "u5", "five"), nil, kept},
		{"regenerate of a message that is named", "ada", again("u4", "u4", "four"), nil, "u1 A u2 A b3 A u4 A"},
		{"regenerate of one named alone", "ada", again("u4", "", ""), nil, "u1 A u2 A b3 A u4 A"},
		{"regenerate of one before somebody else's", "ada", again("u2", "u2", "two"), session.ErrNotYours, kept},
		{"regenerate of somebody else's", "ada", again("b3", "b3", "three"), session.ErrNotYours, kept},
		{"regenerate of somebody else's last", "bob", again("", "u5", "five"), session.ErrNotYours, kept},
		{"edit", "ada", edit("u4", "quatre"), nil, "u1 A u2 A b3 A u4 A"},
		{"edit of the last", "ada", edit("u5", "cinq"), nil, kept},
		{"edit of one before somebody else's", "ada", edit("u1", "uno"), session.ErrNotYours, kept},
		{"edit of somebody else's", "ada", edit("b3", "trois"), session.ErrNotYours, kept},
		{"edit of one's own before somebody else's", "bob", edit("b3", "trois"), session.ErrNotYours, kept},
		{"edit coded with regenerate", "ada", again("", "u4", "quatre"), nil, "u1 A u2 A b3 A u4 A"},
		{"edit coded with regenerate, before somebody else's", "ada", again("", "u1", "uno"), session.ErrNotYours, kept},
		{"a new message", "bob", edit("b6", "six"), nil, kept + " b6 A"},
		{"regenerate of what was never sent", "ada", again("", "u6", "six"), nil, kept + " u6 A"},
		{"regenerate of nothing that is known", "ada", again("nobody", "", ""), session.ErrUnknownMessage, kept},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, served(notebook{}))
				defer b.close()
				b.run("u1", "one")
				b.run("u2", "two")
				turn, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("b3", "three"), By: "bob"})
				if err != nil {
					t.Fatal(err)
				}
				b.wait(turn)
				b.run("u4", "four")
				b.run("u5", "five")
				c.p.By = c.by
				if turn, err = b.Prompt(t.Context(), "s", c.p); !errors.Is(err, c.err) {
					t.Fatalf("error %v, want %v", err, c.err)
				}
				if err == nil {
					b.wait(turn)
				}
				if ids := b.history(); ids != c.ids {
					t.Errorf("history %s, want %s", ids, c.ids)
				}
			})
		})
	}
}

// A page that shows a text from before an edit has not edited it.
func TestRegenerateByAPageThatMissedAnEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, served(notebook{}))
		defer b.close()
		b.run("u1", "one")
		b.run("u1", "uno")
		for _, ids := range []string{"u1 A", "u1 A u2 A"} {
			if _, err := b.Prompt(t.Context(), "s", session.Prompt{Regenerate: true, Message: text("u1", "one"), By: "ada"}); !errors.Is(err, session.ErrStale) {
				t.Errorf("error %v", err)
			}
			if got := b.history(); got != ids {
				t.Errorf("history %s, want %s", got, ids)
			}
			b.run("u2", "two")
		}
	})
}

// A refusal leaves alone what runs and what waits.
//
//evidence:for promise-rewind
func TestARefusedRewindStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, served(notebook{}))
		defer b.close()
		b.run("u1", "one")
		theirs, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("b2", "slow two"), By: "bob"})
		if err != nil {
			t.Fatal(err)
		}
		waits, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("b3", "three"), By: "bob"})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []session.Prompt{{Regenerate: true, Of: "u1", By: "ada"}, {Regenerate: true, Message: text("u1", "one"), By: "ada"}, {Message: text("u1", "uno"), By: "ada"}} {
			if _, err := b.Prompt(t.Context(), "s", p); !errors.Is(err, session.ErrNotYours) && !errors.Is(err, session.ErrStale) {
				t.Errorf("error %v", err)
			}
		}
		for _, turn := range []session.Turn{theirs, waits} {
			if s := stopOf(t, b.wait(turn)); s.Outcome != trace.OutcomeCompleted {
				t.Errorf("stop %+v", s)
			}
		}
		if all, _ := b.remembers(); all != "one|slow two|three" {
			t.Errorf("the agent remembers %q", all)
		}
	})
}
