package session_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/internal/testkit/faultnet"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// These tests have two gateways on one PostgreSQL.

var postgres pgtest.Server

// far is an agent on a server: its runs go on until their context ends, and it notes why.
type far struct {
	reattached chan string
	ended      chan error
	closed     chan struct{}
}

func newFar() far {
	return far{reattached: make(chan string, 9), ended: make(chan error, 9), closed: make(chan struct{}, 9)}
}

func (f far) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) { return f, nil }

func (f far) Close() error {
	f.closed <- struct{}{}
	return nil
}

func (f far) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	if p.Text() == "short" {
		b.Message("", "done")
		return nil
	}
	if p.Text() == "whole messages" {
		for i := 0; ctx.Err() == nil; i++ {
			b.Message(fmt.Sprint(i), "x")
			time.Sleep(10 * time.Millisecond)
		}
		f.ended <- context.Cause(ctx)
		return ctx.Err()
	}
	return f.run(ctx, b)
}

func (f far) Reattach(ctx context.Context, _ agent.Session, left agent.OpenTurn) error {
	f.reattached <- left.Builder.Turn()
	return f.run(ctx, left.Builder)
}

func (f far) run(ctx context.Context, b *trace.Builder) error {
	for {
		select {
		case <-time.After(10 * time.Millisecond):
			b.MessageDelta("", "x")
		case <-ctx.Done():
			f.ended <- context.Cause(ctx)
			return ctx.Err()
		}
	}
}

// near is far with runs that end with the gateway.
type near struct{ far far }

func (n near) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) { return n, nil }

func (n near) Close() error { return n.far.Close() }

func (n near) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	return n.far.Prompt(ctx, p, b)
}

// errorLog gathers the errors in a gateway's log.
type errorLog struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (e *errorLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (e *errorLog) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, line)
	return nil
}

func (e *errorLog) WithAttrs([]slog.Attr) slog.Handler { return e }

func (e *errorLog) none(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, line := range e.lines {
		t.Errorf("the gateway logs an error: %s", line)
	}
}

// sharedHub is a gateway on a database that others use too.
type sharedHub struct {
	*session.Hub
	t      *testing.T
	log    *eventlog.Log
	errors *errorLog
	state  string
}

func share(t *testing.T, o sqllog.Options, r agent.Runtime, change ...func(*session.Agent)) *sharedHub {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	store, err := sqllog.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	g := &sharedHub{t: t, log: eventlog.New(&lockFree{Store: store}), errors: &errorLog{}, state: o.Dir}
	far := session.Agent{Runtime: r, Cwd: t.TempDir(), InProcess: true}
	for _, do := range change {
		do(&far)
	}
	g.Hub, err = session.New(t.Context(), session.Options{
		Log: g.log, Default: "far", StateDir: o.Dir, Logger: slog.New(g.errors),
		Agents: map[string]session.Agent{"far": far},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = g.Close(now)
		if err := g.log.Close(); err != nil && !errors.Is(err, eventlog.ErrNotOwner) {
			t.Log(err)
		}
	})
	return g
}

func (g *sharedHub) prompt(id, words string) session.Turn {
	g.t.Helper()
	if _, err := g.Ensure(g.t.Context(), session.Spec{ID: "s", By: "ada"}); err != nil {
		g.t.Fatal(err)
	}
	turn, err := g.Prompt(g.t.Context(), "s", session.Prompt{Message: text(id, words), By: "ada"})
	if err != nil {
		g.t.Fatal(err)
	}
	return turn
}

func (g *sharedHub) wait(turn session.Turn) {
	g.t.Helper()
	for _, err := range g.Follow(g.t.Context(), "s", turn.ID, turn.After) {
		if err != nil {
			g.t.Fatal(err)
		}
	}
}

// role is that of eve.
func (g *sharedHub) role(want string) {
	g.t.Helper()
	if info, err := g.Get(g.t.Context(), "s"); err != nil || info.Members["eve"] != want {
		g.t.Errorf("eve is %q, want %q (%v)", info.Members["eve"], want, err)
	}
}

func (g *sharedHub) setRole(role string) {
	g.t.Helper()
	awaits(g.t, "a change of a member", func() bool {
		_, err := g.SetMember(g.t.Context(), "s", "eve", role)
		if err != nil && !errors.Is(err, session.ErrElsewhere) {
			g.t.Fatal(err)
		}
		return err == nil
	})
}

// awaits waits for a condition.
func awaits(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%s does not come", what)
		}
	}
}

// receives takes the next value of a channel. A channel that is closed has none.
func receives[T any](t *testing.T, what string, from chan T) (got T) {
	t.Helper()
	open := false
	select {
	case got, open = <-from:
	case <-time.After(30 * time.Second):
	}
	if !open {
		t.Fatalf("%s does not come", what)
	}
	return got
}

func behind(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

//evidence:for promise-one-writer
func TestASecondGatewayLeavesTheTurnsOfTheFirstAlone(t *testing.T) {
	t.Parallel()
	for name, runtime := range map[string]func(far) agent.Runtime{
		"an agent on a server":                func(f far) agent.Runtime { return f },
		"an agent that ends with the gateway": func(f far) agent.Runtime { return near{f} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := sqllog.Options{URL: postgres.Database(t)}
			a, b := newFar(), newFar()
			first := share(t, o, runtime(a))
			turn := first.prompt("u1", "long")
			second := share(t, o, runtime(b))
			if now, err := second.Get(t.Context(), "s"); err != nil || now.State != session.Running || now.Turn != turn.ID {
				t.Errorf("at the second gateway the session is %s in %q (%v)", now.State, now.Turn, err)
			}
			select {
			case turn := <-b.reattached:
				t.Errorf("the second gateway has taken up %s", turn)
			case cause := <-b.ended:
				t.Errorf("the second gateway has ended the turn: %v", cause)
			case cause := <-a.ended:
				t.Errorf("the turn has ended at the first: %v", cause)
			case <-time.After(300 * time.Millisecond): // nothing is to come
			}
			second.errors.none(t)
		})
	}
}

// A gateway whose session was taken ends the turn here, and the run on the agent's server goes on.
func TestARemoteTurnIsLeftToTheGatewayThatHasTakenIt(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{URL: postgres.Database(t)}
	a := newFar()
	first := share(t, o, a)
	first.prompt("u1", "whole messages")
	if _, err := behind(t, o.URL).ExecContext(t.Context(), `UPDATE places SET owner = 'other:1', term = term + 1`); err != nil {
		t.Fatal(err)
	}
	if cause := receives(t, "the end of the run", a.ended); !errors.Is(cause, agent.ErrDetached) {
		t.Errorf("the agent is told: %v", cause)
	}
	receives(t, "the end of the agent", a.closed)
	first.errors.none(t)
}

func TestMemoryIsNotOlderThanTheDatabase(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{URL: postgres.Database(t)}
	a, b := newFar(), newFar()
	first, second := share(t, o, near{a}), share(t, o, near{b})
	first.wait(first.prompt("u1", "short"))
	first.setRole("viewer")
	second.role("viewer") // now both have the session in memory
	first.setRole("")
	second.role("")
	first.setRole("viewer")
	first.log.GiveBack()
	second.setRole("")
	second.wait(second.prompt("u2", "short"))
	title := "chosen at the second"
	if _, err := second.Change(t.Context(), "s", session.Change{Title: &title}); err != nil {
		t.Fatal(err)
	}
	first.role("")
	page, err := first.History(t.Context(), "s", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	prompts := 0
	for r := range page.Records {
		if r.Payload.Kind() == trace.KindPrompt {
			prompts++
		}
	}
	if prompts != 2 {
		t.Errorf("the history at the first gateway has %d of 2 prompts", prompts)
	}
	receives(t, "the end of the agent that does not know what was said at the second", a.closed)
	second.log.GiveBack()
	awaits(t, "a prompt at the first", func() bool {
		turn, err := first.Prompt(t.Context(), "s", session.Prompt{Message: text("u3", "short"), By: "ada"})
		if err == nil {
			first.wait(turn)
		} else if !errors.Is(err, session.ErrElsewhere) {
			t.Fatal(err)
		}
		return err == nil
	})
	second.role("")
	if info, err := second.Get(t.Context(), "s"); err != nil || info.Title != title {
		t.Errorf("the title is %q (%v)", info.Title, err)
	}
	first.errors.none(t)
	second.errors.none(t)
}

// A gateway that alone uses its database keeps a warm agent, also when it has given the session back.
func TestASessionThatNobodyElseUsedKeepsItsAgent(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{URL: postgres.Database(t), Idle: time.Second, Linger: time.Second, Lease: 3 * time.Second}
	a := newFar()
	only := share(t, o, near{a})
	only.wait(only.prompt("u1", "short"))
	db := behind(t, o.URL)
	awaits(t, "the end of the ownership", func() bool {
		owner := ""
		if err := db.QueryRowContext(t.Context(), `SELECT owner FROM places`).Scan(&owner); err != nil {
			t.Fatal(err)
		}
		return owner == ""
	})
	only.wait(only.prompt("u2", "short"))
	if len(a.closed) != 0 {
		t.Error("the agent was closed in between")
	}
	only.errors.none(t)
}

func TestAGatewayThatDoesNotOwnASessionSaysSo(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{URL: postgres.Database(t)}
	a, b := newFar(), newFar()
	first, second := share(t, o, a), share(t, o, b)
	first.wait(first.prompt("u1", "short"))
	if _, ok, err := second.Resumable(t.Context(), "s", ""); !ok || err != nil { // the turn has ended, and nothing runs
		t.Errorf("a resume after the turn: %v %v", ok, err)
	}
	turn := first.prompt("u2", "long")
	ctx := t.Context()
	yes := true
	for what, do := range map[string]func() error{
		"a prompt":       func() error { _, err := second.Prompt(ctx, "s", promptOf("u3", "ada")); return err },
		"a stop":         func() error { _, _, err := second.StopTurn(ctx, "s", "", "ada"); return err },
		"a stop by id":   func() error { _, _, err := second.StopTurn(ctx, "s", turn.ID, "ada"); return err },
		"a resume":       func() error { _, _, err := second.Resumable(ctx, "s", ""); return err },
		"a resume by id": func() error { _, _, err := second.Resumable(ctx, "s", turn.ID); return err },
		"a new member":   func() error { _, err := second.SetMember(ctx, "s", "eve", "viewer"); return err },
		"a deletion":     func() error { _, err := second.Delete(ctx, "s"); return err },
		"an answer": func() error {
			_, err := second.Permit(ctx, "s", "r1", session.Sender{By: "ada"}, session.Choice{Approved: &yes})
			return err
		},
		"an answer to a question": func() error {
			_, err := second.Answer(ctx, "s", "r1", session.Sender{By: "ada"}, []string{"x"})
			return err
		},
		"a message to the turn": func() error { return second.Steer(ctx, "s", promptOf("u3", "ada")) },
	} {
		if err := do(); !errors.Is(err, session.ErrElsewhere) {
			t.Errorf("%s: %v", what, err)
		}
	}
	list, _, err := second.List(ctx, session.Selection{}, 0, 10)
	if err != nil || len(list) != 1 || list[0].State != session.Running || list[0].Turn != turn.ID {
		t.Errorf("the list: %+v %v", list, err)
	}
	if now, err := first.Get(ctx, "s"); err != nil || now.State != session.Running {
		t.Errorf("at the first: %s %v", now.State, err)
	}
	first.errors.none(t)
	second.errors.none(t)
}

func TestADeletionByAnotherGatewayDeletesNothing(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{URL: postgres.Database(t), Dir: t.TempDir()}
	first := share(t, sqllog.Options{URL: o.URL}, near{newFar()})
	o.Dir = t.TempDir()
	second := share(t, o, keeper{})
	second.wait(second.prompt("u1", "blue"))
	memory := func() []string {
		files, _ := filepath.Glob(filepath.Join(second.state, "agents", "*", "memory"))
		return files
	}
	if len(memory()) != 1 {
		t.Fatal("the agent has no memory:", memory())
	}
	second.log.GiveBack()
	first.setRole("viewer") // the first owns the session now
	if _, err := second.Delete(t.Context(), "s"); !errors.Is(err, session.ErrElsewhere) {
		t.Errorf("the deletion: %v", err)
	}
	if files := memory(); len(files) != 1 {
		t.Error("the agent's memory is gone")
	} else if data, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(data), "blue") {
		t.Errorf("the agent's memory is %q (%v)", data, err)
	}
	second.role("viewer")
}

// The turns of a gateway that has died are closed, or go on, though nobody prompts; and a prompt begins no
// second run beside one that goes on. A gateway without its database is dead to others.
func TestTheTurnsOfAGatewayThatHasDiedAreTakenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runtime func(far) agent.Runtime
		prompts bool
	}{
		"an agent that ends with the gateway": {func(f far) agent.Runtime { return near{f} }, false},
		"an agent on a server":                {func(f far) agent.Runtime { return f }, false},
		"an agent on a server, and a prompt":  {func(f far) agent.Runtime { return f }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, direct, held := heldDatabase(t)
			there := newFar()
			turn := share(t, sqllog.Options{URL: held, Lease: 2 * time.Second, Patience: time.Second}, c.runtime(newFar())).prompt("u1", "long")
			second := share(t, sqllog.Options{URL: direct}, c.runtime(there)) // a busy machine loses a short lease
			p.Hold(true, true)
			defer p.Hold(false, false)
			if c.prompts {
				awaits(t, "the take-over", func() bool {
					_, err := second.Prompt(t.Context(), "s", session.Prompt{Message: text("u2", "short"), By: "ada"})
					return err == nil
				})
			}
			if _, remote := c.runtime(there).(agent.Reattacher); remote {
				if got := receives(t, "the turn that goes on", there.reattached); got != turn.ID {
					t.Errorf("%s goes on, and not %s", got, turn.ID)
				}
				if len(there.ended) > 0 {
					t.Errorf("the turn has ended: %v", <-there.ended)
				}
				if got := second.TakenUp(); got != (session.TakenUp{Continued: 1}) {
					t.Errorf("taken up: %+v", got)
				}
				return
			}
			awaits(t, "the end of the turn", func() bool {
				now, err := second.Get(t.Context(), "s")
				return err == nil && now.State == session.Idle && now.Last != nil && now.Last.ID == turn.ID && now.Last.Outcome == trace.OutcomeFailed
			})
			if got := second.TakenUp(); got != (session.TakenUp{Closed: 1}) {
				t.Errorf("taken up: %+v", got)
			}
		})
	}
}

// The gateway that finds another one dead takes up its turns at once, though the lease of that lasts.
func TestTheTurnsOfAGatewayThatIsFoundDeadAreTakenUpAtOnce(t *testing.T) {
	t.Parallel()
	const lookedForAfter = 5 * time.Second // without that, after the start of a gateway
	p, direct, held := heldDatabase(t)
	there := newFar()
	turn := share(t, sqllog.Options{URL: held, Lease: time.Minute, Patience: time.Second}, newFar()).prompt("u1", "long")
	p.Close()
	began := time.Now()
	share(t, sqllog.Options{URL: direct, Lease: time.Second}, there)
	if got := receives(t, "the turn that goes on", there.reattached); got != turn.ID {
		t.Errorf("%s goes on, and not %s", got, turn.ID)
	}
	if took := time.Since(began); took >= lookedForAfter {
		t.Errorf("it goes on after %s", took)
	}
}

// heldDatabase is a new database with two URLs: the server's own, and one by a proxy that can hold
// what passes.
func heldDatabase(t *testing.T) (p *faultnet.Proxy, direct, held string) {
	t.Helper()
	direct = postgres.Database(t)
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = faultnet.New(t.Context(), u.Host); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	u.Host = p.Addr()
	return p, direct, u.String()
}

// An owner that cannot renew its lease shows nothing more. When it learns that another one has taken the session, it ends its turns.
func TestAnOwnerWhoseLeaseIsOverShowsNothingMore(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(*faultnet.Proxy){
		"nothing reaches the database":       func(p *faultnet.Proxy) { p.Hold(true, false) },
		"nothing comes back of the database": func(p *faultnet.Proxy) { p.Hold(false, true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, direct, held := heldDatabase(t)
			a := newFar()
			// A busy machine loses a lease of two seconds before the agent has the prompt.
			first := share(t, sqllog.Options{URL: held, Lease: 5 * time.Second, Patience: time.Second}, near{a})
			turn := first.prompt("u1", "long")
			shown := make(chan time.Time, 1<<16)
			go func() {
				for r, err := range first.Follow(context.WithoutCancel(t.Context()), "s", turn.ID, turn.After) {
					if err == nil && r.Payload.Kind() == trace.KindMessageDelta {
						shown <- time.Now()
					}
				}
				close(shown)
			}()
			receives(t, "a word", shown)
			second := share(t, sqllog.Options{URL: direct}, near{newFar()})
			hold(p)
			defer p.Hold(false, false)
			awaits(t, "the take-over", func() bool {
				_, err := second.SetMember(t.Context(), "s", "eve", "viewer")
				return err == nil
			})
			taken := time.Now()
			p.Hold(false, false)
			if cause := receives(t, "the end of the run", a.ended); cause == nil {
				t.Error("the run ended by itself")
			}
			n := 0
			for at := range shown {
				if at.After(taken) {
					t.Fatalf("a word is shown %s after another gateway has taken the session", at.Sub(taken))
				}
				n++
			}
			if n == 0 {
				t.Error("no word is shown before")
			}
		})
	}
}

// While a gateway waits for its running turns to end, others have its idle sessions already.
func TestTheEndOfAGatewayGivesIdleSessionsBackAtOnce(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{URL: postgres.Database(t)}
	a := newFar()
	first, second := share(t, o, near{a}), share(t, o, near{newFar()})
	if _, err := first.Create(t.Context(), session.Spec{ID: "idle", By: "ada"}); err != nil {
		t.Fatal(err)
	}
	first.prompt("u1", "long")
	draining, over := context.WithCancel(context.WithoutCancel(t.Context()))
	closed := make(chan error, 1)
	go func() { closed <- first.Close(draining) }()
	awaits(t, "the idle session", func() bool {
		_, err := second.SetMember(t.Context(), "idle", "eve", "viewer")
		return err == nil
	})
	if len(a.ended) != 0 || len(closed) != 0 {
		t.Error("the turn has ended before the idle session was given back")
	}
	if _, err := second.SetMember(t.Context(), "s", "eve", "viewer"); !errors.Is(err, session.ErrElsewhere) {
		t.Errorf("a change of the session with the turn: %v", err)
	}
	over()
	if err := receives(t, "the end", closed); err != nil {
		t.Error(err)
	}
	awaits(t, "the session of the turn", func() bool {
		_, err := second.SetMember(t.Context(), "s", "eve", "viewer")
		return err == nil
	})
	first.errors.none(t)
}
