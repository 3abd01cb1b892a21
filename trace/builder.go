package trace

import (
	"context"
	"strconv"
	"time"
)

// This file has the Builder, the only writer of a turn, and its settings.

// Config says how a [Builder] writes.
type Config struct {
	// Turn is the id of the turn; event ids begin with it.
	Turn string
	// Append puts events on record, in order, and returns when they are. Only
	// one call is under way at a time. It must not call Finish, which waits for
	// it, and not keep the list, which is used again. Required.
	Append func(ctx context.Context, events []Event) error
	// Decide decides a permission request without asking anybody, if it can.
	// Decide runs without the Builder's lock, since a policy reads the file system.
	Decide func(PermissionRequest, ToolCall) (PermissionResponse, bool)
	// Offer returns the options that a person gets of a request for a call that Decide has left
	// open. The Builder holds no lock meanwhile.
	Offer func(PermissionRequest) []PermissionOption
	// RequestsChanged is called after requests were made, put to the user or answered,
	// before Append gets their events, and before the agent gets an answer. The Builder
	// holds no lock meanwhile. RequestsChanged must not wait for Append. The parameter
	// answered has the requests that people have answered, or the agent has withdrawn.
	RequestsChanged func(answered []Request)
	// RequestSuffix ends the id of every request and question. Agents restart their counts
	// in each process, and an answer names the id alone. So without the suffix an old
	// button on a page could answer a later request.
	RequestSuffix string
	// Hold makes readers stay while somebody is asked; see [Pause].
	Hold bool
	// ShowRequestsWithin bounds how long a request waits, before the user gets it, for a
	// call that the agent is still writing. Zero is no bound.
	ShowRequestsWithin time.Duration
	// ShowWithin bounds how long the newest output of a silent call waits until it is
	// shown. Zero means that it waits for the call's next output, or for its result.
	ShowWithin time.Duration
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// MaxEvent bounds in bytes a text, a thought, the input and the output of a call, and
	// every other event of the agent; 32 MB if zero. A tool's output, a tool's error, a
	// text and a thought that are larger become their beginning, as text, and a marker.
	// A larger input becomes {}, and any other event is dropped. All but the output and
	// the error of a tool exceed a bound of the turn.
	MaxEvent int
	// MaxBytes and MaxRecords bound what the turn puts on record, and MaxHeld how many
	// bytes it holds in memory: texts, thoughts, calls that have no result, and what Hold
	// tells. Zero is no bound.
	MaxBytes, MaxRecords, MaxHeld int64
	// Reserve takes bytes of memory for what a turn holds, out of what all turns share,
	// and reports false if there are no more. A negative number gives bytes back. The
	// Builder calls Reserve under its lock.
	Reserve func(bytes int64) bool
	// Exceeded is called once, with the first bound that the agent has exceeded, and is to
	// end the turn. The Builder writes nothing more of the agent then, and holds no lock
	// meanwhile. If Exceeded is nil, the agent may go on.
	Exceeded func(Bound)
}

// Builder writes one turn. See the package comment for its contract. The keys
// that its methods take are the agent's own ids of parts and calls; the Builder
// makes them unique within the turn.
type Builder struct {
	turn *turn
	// within is the call whose sub-agent speaks, or "".
	within string
}

// NewBuilder returns a Builder that writes one turn. Cancelling ctx abandons an
// append under way; it is for the death of the log, not for stopping the agent.
func NewBuilder(ctx context.Context, cfg Config) *Builder {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.MaxEvent <= 0 {
		cfg.MaxEvent = 32 << 20
	}
	t := &turn{
		Config:   cfg,
		queue:    queue{append: cfg.Append, ctx: ctx, more: make(chan struct{}, 1), failed: make(chan struct{})},
		ended:    make(chan struct{}),
		parts:    map[partKey]*part{},
		calls:    map[string]*call{},
		requests: map[string]*request{},
		subs:     map[string]*sub{},

		callNames:    idAllocator{},
		requestNames: idAllocator{},
	}
	t.cond.L = &t.mu
	t.touched = t.Now()
	return &Builder{turn: t}
}

// Turn returns the id of the turn.
func (b *Builder) Turn() string { return b.turn.Config.Turn }

// Under returns a view of the same turn for the sub-agent that the given call
// started: what is written through it has that call as its parent.
func (b *Builder) Under(toolCallID string) *Builder {
	if toolCallID == "" {
		return b
	}
	return &Builder{turn: b.turn, within: toolCallID}
}

// Touch says that the agent is alive though it said nothing worth a record.
func (b *Builder) Touch() { b.do(func(t *turn) { t.use.touch = true }) }

// End tells how the turn ended, in the agent's own view. The first call counts, and
// only before Finish; after it End still tells that the agent is done. Records may
// follow; the owner of the turn writes the stop. Error and Reason are cut at 64 KB, as those of
// Finish and of an Error are.
func (b *Builder) End(verdict Stop) {
	t := b.turn
	verdict = verdict.cut()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || t.stop != nil {
		t.counts.Late++
	} else {
		t.stop, t.touched = &verdict, t.Now()
	}
	if !b.Over() {
		close(t.ended)
	}
}

// Ended is closed once End was called: the agent is done with the turn, even if
// somebody else had finished it before.
func (b *Builder) Ended() <-chan struct{} { return b.turn.ended }

// Over reports whether End was called.
func (b *Builder) Over() bool {
	select {
	case <-b.turn.ended:
		return true
	default:
		return false
	}
}

// Result returns the argument of the first End.
func (b *Builder) Result() (Stop, bool) {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop == nil {
		return Stop{}, false
	}
	return *t.stop, true
}

// Failed is closed when an append failed; Finish returns the error.
func (b *Builder) Failed() <-chan struct{} { return b.turn.failed }

// Activity is a moment's view of a running turn.
type Activity struct {
	// Last is when the agent last said anything.
	Last time.Time
	// Tools and Asks count the calls that run and the requests and questions
	// that wait for an answer.
	Tools, Asks int
	// Shown says that the agent has shown something: all but steps, usage, states, notices and data of its world.
	Shown bool
}

// Activity tells what the turn is doing now, so that a caller can limit its
// silence.
func (b *Builder) Activity() Activity {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	return Activity{Last: t.touched, Tools: t.running, Asks: t.waiting, Shown: t.shown}
}

// Counts says how often the Builder had to correct an agent.
type Counts struct {
	Reconciled   int // full texts that brought text which the deltas had dropped
	Contradicted int // full texts that contradicted what was streamed, and lost
	Repeated     int // full texts and results that came twice
	Renamed      int // ids that the agent used twice
	Orphans      int // results and answers for something never seen
	Cut          int // outputs, texts, inputs and other events beyond MaxEvent
	Late         int // calls after the end
}

// Counts returns the counters so far.
func (b *Builder) Counts() Counts {
	b.turn.mu.Lock()
	defer b.turn.mu.Unlock()
	return b.turn.counts
}

// turn is the state that all views of one Builder share. Everything below mu
// (in queue) is guarded by it.
type turn struct {
	Config
	queue

	n                int // events so far, for ids
	done             bool
	shown            bool      // see Activity
	touched          time.Time // the time of all that a call writes
	stop             *Stop
	ended            chan struct{}
	stepOpen         bool
	step             Step // what the next one is called, or the open one
	stepCalls        int  // how many calls there were when the open one began
	stepAfterResults bool // see the method of that name
	parts            map[partKey]*part
	partsN           int              // parts so far, for ids
	open             []*part          // parts that began, in order; those that ended go now and then
	shut             int              // how many in open have ended
	calls            map[string]*call // by the agent's id, the newest of that id
	order            []*call
	running          int                 // calls that are whole and have no result
	requests         map[string]*request // by unique id
	inOrder          []*request
	waiting          int             // requests without an answer
	queuedRequests   []*request      // those that are yet to be put to the user
	active           []*request      // those that are with the user now
	held             bool            // readers stay while these are with the user
	changed          bool            // the owner of the turn is to know of requests
	resolved         []*request      // answered since the owner was told
	writing          int             // calls of the agent's own whose input is being written
	refused          []*call         // calls that may not run and have no result, and some that have
	printing         []*call         // calls whose newest output is shown later
	subs             map[string]*sub // by the agent's id
	subsInOrder      []*sub
	final            []*part // the texts of the newest step that had any
	finalAt          int     // the step that final belongs to
	steps            int
	counts           Counts
	use              usage

	callNames, requestNames idAllocator
}

// do runs a write under the lock, unless the turn is over.
func (b *Builder) do(write func(*turn)) {
	t := b.turn
	t.announce(t.locked(write))
}

// locked runs a write under the lock. It returns the changes of requests, or nil.
func (t *turn) locked(write func(*turn)) *changes {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.full() && !t.done {
		t.cond.Wait()
	}
	if t.done || t.use.exceeded != 0 {
		t.counts.Late++
		return t.takeChanges()
	}
	return t.write(write)
}

// write does a write at this moment. The caller holds the lock.
func (t *turn) write(write func(*turn)) *changes {
	t.touched = t.Now()
	n, held := t.n, t.use.held
	write(t)
	if t.n == n && t.use.held == held && !t.use.touch {
		t.spend(header, 0) // as in Heard
	}
	t.use.touch = false
	return t.takeChanges()
}

// put queues an event and returns its id. Times are in UTC and without the
// monotonic clock, to be the same in memory as they are when read back.
func (t *turn) put(parent string, actor Actor, p Payload) string {
	t.n++
	id := t.Turn + "." + strconv.Itoa(t.n)
	t.shown = t.shown || actor != Gateway && actor != User && shows(p)
	e := Event{ID: id, Time: t.touched.UTC().Round(0), Parent: parent, Actor: actor, Payload: p}
	t.spend(weightOf(e))
	t.push(e, ApproxSize(p))
	return id
}

func shows(p Payload) bool {
	switch p := p.(type) { //nolint:gochecksumtype // all others do
	case Step, Usage, Status:
		return false
	case Error:
		return p.Level != LevelNotice
	case Data:
		return !p.Domain && !p.Transient
	}
	return true
}
