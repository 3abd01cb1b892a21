package access

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Store keeps tokens and sign-ins, so that they outlive the process. Package accessdb has
// one in a database. A Store is safe for concurrent use, and does not return entries that
// have expired.
type Store interface {
	// Put adds an entry. The error is ErrTaken if the kind has one of that ID or Name.
	Put(ctx context.Context, kind Kind, e Entry) error
	// Get finds an entry by its ID. The error is ErrUnknown if there is none.
	Get(ctx context.Context, kind Kind, id string) (Entry, error)
	// List returns the entries of a kind, the oldest first: those of an owner and those whose
	// owner is not noted, or all if owner is empty.
	List(ctx context.Context, kind Kind, owner string) ([]Entry, error)
	// Update gives the entry of an ID another Doc and Expires, if its Doc is still was. The error
	// is ErrUnknown if it is not, or if there is no such entry.
	Update(ctx context.Context, kind Kind, e Entry, was []byte) error
	// Delete removes an entry by its Name. The error is ErrUnknown if there is none.
	Delete(ctx context.Context, kind Kind, name string) error
}

// Kind is a kind of entries in a Store.
type Kind string

// The kinds of entries.
const (
	KindToken  Kind = "token" // those that `tributary token create` has made
	kindSignIn Kind = "sign-in"
	kindKey    Kind = "key"
)

// Entry is what a Store keeps. It holds no secret but a key of the gateway's own.
type Entry struct {
	ID, Name string
	// Owner is the person whose entry it is. Stores of older programs have noted none.
	Owner   string
	Created time.Time
	Expires time.Time // zero: never
	Doc     []byte
}

// Errors of a Store.
var (
	ErrTaken   = errors.New("there is one of that name")
	ErrUnknown = errors.New("there is none of that name")
)

func (e Entry) expired() bool { return !e.Expires.IsZero() && !time.Now().Before(e.Expires) }

// memory is a Store without a database.
type memory struct {
	mu      sync.Mutex
	entries map[Kind][]Entry
}

// NewMemory returns a Store that ends with the process.
func NewMemory() Store { return &memory{entries: map[Kind][]Entry{}} }

func (m *memory) alive(kind Kind) []Entry {
	m.entries[kind] = slices.DeleteFunc(m.entries[kind], Entry.expired)
	return m.entries[kind]
}

// Put implements Store.
func (m *memory) Put(_ context.Context, kind Kind, e Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.alive(kind), func(o Entry) bool { return o.ID == e.ID || o.Name == e.Name }) {
		return ErrTaken
	}
	m.entries[kind] = append(m.entries[kind], e)
	return nil
}

// Get implements Store.
func (m *memory) Get(_ context.Context, kind Kind, id string) (Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.alive(kind)
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id }); i >= 0 {
		return all[i], nil
	}
	return Entry{}, ErrUnknown
}

// List implements Store.
func (m *memory) List(_ context.Context, kind Kind, owner string) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.alive(kind)), func(e Entry) bool { return owner != "" && e.Owner != "" && e.Owner != owner }), nil
}

// Update implements Store.
func (m *memory) Update(_ context.Context, kind Kind, e Entry, was []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.alive(kind)
	i := slices.IndexFunc(all, func(o Entry) bool { return o.ID == e.ID && bytes.Equal(o.Doc, was) })
	if i < 0 {
		return ErrUnknown
	}
	all[i].Doc, all[i].Expires = e.Doc, e.Expires
	return nil
}

// Delete implements Store.
func (m *memory) Delete(_ context.Context, kind Kind, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.alive(kind)
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return ErrUnknown
	}
	m.entries[kind] = slices.Delete(all, i, i+1)
	return nil
}

// Bounds of what a shelf remembers.
const (
	freshFor   = 2 * time.Second
	mostOnHand = 4096
)

// shelf reads a kind of a Store, and remembers what it found for a moment: one request of
// a page follows the other.
type shelf struct {
	Store
	kind Kind

	mu   sync.Mutex
	held map[string]found
}

type found struct {
	entry Entry
	err   error // nil or ErrUnknown
	at    time.Time
}

func (s *shelf) find(ctx context.Context, id string) (Entry, error) {
	s.mu.Lock()
	f, ok := s.held[id]
	s.mu.Unlock()
	if !ok || time.Since(f.at) > freshFor {
		e, err := s.Get(ctx, s.kind, id)
		if err != nil && !errors.Is(err, ErrUnknown) {
			return Entry{}, err
		}
		f = found{e, err, time.Now()}
		s.keep(id, f)
	}
	if f.err == nil && f.entry.expired() {
		return Entry{}, ErrUnknown
	}
	return f.entry, f.err
}

func (s *shelf) keep(id string, f found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil || len(s.held) >= mostOnHand {
		s.held = map[string]found{}
	}
	s.held[id] = f
}

// drop removes an entry, for this process at once.
func (s *shelf) drop(ctx context.Context, name string) error {
	err := s.Delete(ctx, s.kind, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.held)
	return err
}
