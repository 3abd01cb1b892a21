package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
)

// spoken is a message of the model's branch: a list, and no more.
type spoken struct{ id, by, words, answer string }

// desk is what two people do to a session, and what should come of it.
type desk struct {
	*bench
	dice   *rand.Rand
	branch []spoken
	n      int
	turns  []session.Turn
}

// Two people send, edit and regenerate, at any pace. The history is what a list would be,
// and the agent remembers the history and nothing else. No message is lost to another
// person, and the log has the same as the memory. A quarter of the stories is played with -short, as the race
// detector does: all have the same goroutines.
func TestBranchesAreAList(t *testing.T) {
	stories := uint64(80)
	if testing.Short() {
		stories = 20
	}
	for seed := range stories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := eventlog.New(memlog.New())
				d := &desk{bench: benchOn(t, log, served(notebook{})), dice: rand.New(rand.NewPCG(seed, 7))}
				for range 40 {
					d.act()
					switch d.dice.IntN(5) {
					case 0:
						d.settle()
						d.check()
					case 1:
						time.Sleep(time.Duration(d.dice.IntN(8000)) * time.Millisecond)
					case 2:
						if d.dice.IntN(4) == 0 { // another process takes over
							d.settle()
							if err := d.Close(t.Context()); err != nil {
								t.Fatal(err)
							}
							d.bench = benchOn(t, log, served(notebook{}))
						}
					}
				}
				d.settle()
				d.check()
				d.close()
			})
		})
	}
}

func (d *desk) settle() {
	d.t.Helper()
	for _, turn := range d.turns {
		d.wait(turn)
	}
	d.turns = nil
	time.Sleep(time.Second)
}

// check compares history, as it is in memory and as the log tells it.
func (d *desk) check() {
	d.t.Helper()
	var ids, words []string
	for _, m := range d.branch {
		ids, words = append(ids, m.id, "A"), append(words, m.words)
	}
	reader := benchOn(d.t, d.log, served(notebook{}))
	for what, b := range map[string]*bench{"the session": d.bench, "the log": reader} {
		if got, want := b.history(), strings.Join(ids, " "); got != want {
			d.t.Fatalf("history of %s: %s, want %s", what, got, want)
		}
	}
	if err := reader.Close(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	m := spoken{id: d.name(), by: "ada", words: "?"}
	turn, err := d.Prompt(d.t.Context(), "s", session.Prompt{Message: text(m.id, m.words), By: m.by})
	if err != nil {
		d.t.Fatal(err)
	}
	m.answer = turn.MessageID
	d.branch = append(d.branch, m)
	if got, want := wordsOf(d.wait(turn)), strings.Join(append(words, "?"), "|"); got != want {
		d.t.Fatalf("the agent remembers %s, want %s", got, want)
	}
}

func (d *desk) name() string {
	d.n++
	return fmt.Sprint("u", d.n)
}

// act is one request of somebody's, and what the list makes of it.
func (d *desk) act() {
	d.t.Helper()
	by := []string{"ada", "bob"}[d.dice.IntN(4)/3]
	words := []string{"quick", "slow"}[d.dice.IntN(4)/3] + fmt.Sprint(d.n)
	i := -1
	if len(d.branch) > 0 {
		i = d.dice.IntN(len(d.branch))
		if d.dice.IntN(2) == 0 {
			i = len(d.branch) - 1
		}
	}
	p := session.Prompt{By: by, Message: text(d.name(), words)}
	var want error
	switch kind := d.dice.IntN(7); {
	case i < 0 || kind < 3: // a new message
		i = len(d.branch)
	case kind == 3: // an edit
		p.Message.ID = d.branch[i].id
	case kind == 4: // a regenerate of what is named
		p.Regenerate, p.Of = true, d.branch[i].id
		if len(d.turns) == 0 && d.dice.IntN(2) == 0 { // nobody knows the id of an answer that has not begun
			p.Of = d.branch[i].answer
		}
		p.Message, words = text(d.branch[i].id, d.branch[i].words), d.branch[i].words
	case kind == 5: // a regenerate of what the page takes for the last
		p.Regenerate = true
		p.Message, words = text(d.branch[i].id, d.branch[i].words), d.branch[i].words
		if i < len(d.branch)-1 {
			want = session.ErrStale
		}
	default: // an edit coded with regenerate
		p.Regenerate, p.Message.ID = true, d.branch[i].id
	}
	for _, m := range d.branch[i:] {
		if m.by != by && want == nil {
			want = session.ErrNotYours
		}
	}
	turn, err := d.Prompt(d.t.Context(), "s", p)
	if !errors.Is(err, want) {
		d.t.Fatalf("%+v: error %v, want %v; the list is %+v, history %s", p, err, want, d.branch, d.history())
	}
	if err != nil {
		return
	}
	d.turns = append(d.turns, turn)
	d.branch = append(d.branch[:i], spoken{id: p.Message.ID, by: by, words: words, answer: turn.MessageID})
}
