package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the contract of a store.

// Store keeps records. Implementations are safe for concurrent use; appends to
// one session come one after another.
type Store interface {
	// Append numbers the events, keeps them and returns the last number. The
	// numbers of one batch follow each other: the first is last-len(events)+1.
	// Append returns when the durable ones are committed; ephemeral ones alone
	// wait for no disk, only for the durable records before them. When it returns
	// an error some of the events, the first ones, may be on record. Without
	// events it returns the number of the last record.
	Append(ctx context.Context, session, turn string, events []trace.Event) (last uint64, err error)

	// AppendWith is Put and Append in one commit: all of it is kept, or nothing. The events
	// are kept also where the store has a newer entry.
	AppendWith(ctx context.Context, e Entry, turn string, events []trace.Event) (last uint64, err error)

	// After yields the records with a number greater than after that are there
	// now, in order, and ends. The durable ones are all there. Ephemeral ones of
	// an open turn are there too, or the same text in fewer and longer deltas. An
	// error is the last thing it yields.
	After(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error]

	// Durable is After without ephemeral records, up to and including until
	// (0: to the end). It doesn't read the ephemeral ones.
	Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error]

	// Recent are the records with a greater number, as After yields them, if memory has them all. It
	// waits for nothing, so that a reader who follows the session costs little. The caller changes
	// nothing in them.
	Recent(session string, after uint64) (records []trace.Record, all bool)

	// Turns lists the newest turns that began before the record with number
	// before (0: all), oldest first, at most limit of them (0: all). A turn
	// begins with its first durable record.
	Turns(ctx context.Context, session string, before uint64, limit int) ([]TurnMark, error)

	// Messages yields the marks of the session, in order. It costs far less than the
	// records.
	Messages(ctx context.Context, session string) iter.Seq2[MessageMark, error]

	// Last is the number of the session's last record, 0 when it never had one.
	Last(ctx context.Context, session string) (uint64, error)

	// Delete forgets a session: its entry and its records, all of them or none. Numbers
	// are never used twice: a session that is written to again goes
	// on counting, so that an old position never meets other records.
	Delete(ctx context.Context, session string) error

	Registry
	Exports
	Grants

	// Close releases the store and waits for what runs. It is idempotent. Calls
	// that come later, and calls that it cuts short, return ErrClosed.
	Close() error
}

// Registry keeps one small document per session, and lists them.
type Registry interface {
	// Put stores the entry of a session, whole. Its document may be empty. The newest entry
	// stays, by its Updated: one that comes later and is older changes nothing. So callers
	// need no lock that orders their writes.
	Put(ctx context.Context, e Entry) error
	// Get returns the document of a session, or ErrNoSession. A session whose document is
	// damaged or lost is a DamageError, so that its id is not taken for a free one.
	Get(ctx context.Context, session string) ([]byte, error)
	// List yields the entries that the query asks for, the last changed first.
	List(ctx context.Context, q Query) iter.Seq2[Entry, error]
	// Count tells how many sessions there are.
	Count(ctx context.Context) (int, error)
	// Damage tells what is known to be damaged. The caller changes nothing in it.
	Damage() Damage
}

// Entry is a session in the registry: its document, and the properties by which
// sessions are found.
type Entry struct {
	Session   string
	Agent     string
	Title     string
	Kind      string
	CreatedBy string
	CreatedAt time.Time
	// Updated has the resolution of a microsecond.
	Updated time.Time
	Phase   Phase
	// Archived says that lists leave the session out unless they are asked for such sessions.
	Archived bool
	// Members are the roles of people in the session, by their names.
	Members map[string]string
	Doc     []byte
	// Term is for AppendWith alone: the caller's knowledge of the session is of this term (see
	// [Owner]). AppendWith returns ErrNotOwner if the entry would be put under another one. Zero
	// says that the caller does not know.
	Term uint64
	// Damaged says that the entry is not as it was written. A damaged entry has only its
	// session, its creator and its time, and these may be wrong.
	Damaged bool
}

// Phase says how far the turns of a session are.
type Phase int64

// The phases of a session.
const (
	Closed Phase = iota // all turns have a stop, and the newest has not failed
	Open                // there are turns without a stop
	Failed              // all turns have a stop, and the newest has failed
)

// Query chooses entries. The zero value chooses all.
type Query struct {
	// Person chooses the sessions that the person made or is a member of.
	Person string
	// Before chooses the sessions that were last changed before it.
	Before time.Time
	// Agent chooses the sessions with the agent; "" chooses all.
	Agent string
	// Phases chooses the sessions in one of these phases; none chooses all.
	Phases []Phase
	// Archived chooses the sessions that are archived, or those that are not; nil chooses all.
	Archived *bool
	// Words chooses the sessions in whose title, prompts and answers each word occurs as the
	// beginning of a word. They are of the function Words.
	Words []string
	// Limit is the largest number of entries (0: all).
	Limit int
}

// ErrNoSession says that the registry does not know the session.
var ErrNoSession = errors.New("no such session")

// DamageError says that what is stored of a session cannot be trusted.
type DamageError struct{ Session, What string }

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("the session %q is damaged on disk (%s): it cannot be used, and its id cannot be given to another one", e.Session, e.What)
}

// Damage is what a store has found damaged so far.
type Damage struct {
	// Sessions says in a sentence for each damaged session what is lost of it.
	Sessions map[string]string
}

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("the event log is closed")

// ErrNotOwner says that another gateway owns the session. The turn that gets this
// error ends: its writer never tries again under a newer term.
var ErrNotOwner = errors.New("another gateway owns this session: its records are written there")

// HeldError says that another process uses the data directory.
type HeldError struct {
	// The path that is held, and its holder: "process 4711", for example.
	What, Holder string
}

// Error implements error.
func (e *HeldError) Error() string {
	return e.What + " is in use by " + e.Holder + ": stop that gateway first, or choose another --data directory"
}
