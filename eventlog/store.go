package eventlog

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// Store keeps records. Implementations are safe for concurrent use; appends to
// one session come one after another.
type Store interface {
	// Append numbers the events, keeps them and returns the last number. The
	// numbers of one batch follow each other: the first is last-len(events)+1.
	// When it returns an error some of the events, the first ones, may be on
	// record. Without events it returns the number of the last record.
	Append(ctx context.Context, session, turn string, events []trace.Event) (last uint64, err error)

	// After yields the records with a number greater than after that are there
	// now, in order, wholes and provisional ones merged, and ends. An error is
	// the last thing it yields.
	After(ctx context.Context, session string, after uint64) iter.Seq2[trace.Record, error]

	// Wholes is After without provisional records, up to and including until
	// (0: to the end). It doesn't read the provisional ones.
	Wholes(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error]

	// Turns lists the newest turns that began before the record with number
	// before (0: all), oldest first, at most limit of them (0: all). A turn
	// begins with its first record.
	Turns(ctx context.Context, session string, before uint64, limit int) ([]TurnMark, error)

	// Messages yields the marks of the session's prompts, replies and rewinds, in
	// order. It reads an index where there is one, so it costs far less than the
	// records; what it yields is what Wholes would have told.
	Messages(ctx context.Context, session string) iter.Seq2[MessageMark, error]

	// Last is the number of the session's last record, 0 when it never had one.
	Last(ctx context.Context, session string) (uint64, error)

	// Delete forgets the records of a session, not its document. Numbers are
	// never used twice within an epoch: a session that is written to again goes
	// on counting, so that an old cursor never meets another life's records.
	Delete(ctx context.Context, session string) error

	// Epoch names the life of the store: it changes when numbers may have been
	// lost, so that a cursor of an earlier life is recognised as stale.
	Epoch() string

	// Damaged lists the sessions whose acknowledged records are not all there,
	// with one sentence each.
	Damaged() map[string]string

	Registry

	// Close releases the store and waits for what runs. It is idempotent. Calls
	// that come later, and calls that it cuts short, return ErrClosed.
	Close() error
}

// Registry keeps one small document per session, and lists them.
type Registry interface {
	// Put stores the document of a session, whole.
	Put(ctx context.Context, session string, doc []byte) error
	// Get returns it, or ErrNoSession.
	Get(ctx context.Context, session string) ([]byte, error)
	// List yields all documents, in no order.
	List(ctx context.Context) iter.Seq2[Entry, error]
	// Remove forgets the document of a session.
	Remove(ctx context.Context, session string) error
}

// Entry is a document of the registry.
type Entry struct {
	Session string
	Doc     []byte
	Updated time.Time
}

// ErrNoSession says that the registry does not know the session.
var ErrNoSession = errors.New("no such session")

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("the event log is closed")

// HeldError says that another process uses the data directory or the NATS
// account.
type HeldError struct {
	// What is held, and by whom: a path and "process 4711", for example.
	What, Holder string
}

// Error implements error.
func (e *HeldError) Error() string {
	return e.What + " is in use by " + e.Holder + ": stop that gateway first, or choose another --data directory"
}
