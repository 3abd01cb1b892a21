package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// noteEvery is how often it is noted how far sessions have come. What a store
// loses of less than that before a crash can't be told from what was never there.
const noteEvery = 2 * time.Second

// note is what is known of a session apart from its messages.
type note struct {
	Session string `json:"session"`
	// Last is the highest acknowledged number.
	Last uint64 `json:"last"`
	// At is the place of the last message of wholes, Count how many there are.
	At    uint64 `json:"at"`
	Count uint64 `json:"count"`
	// Damage says what is wrong with the session.
	Damage string `json:"damage,omitempty"`
}

// notes writes down, every now and then, how far sessions have come.
type notes struct {
	kv jetstream.KeyValue

	writing sync.Mutex // so that a removed note does not come back
	mu      sync.Mutex
	pending map[string]note
}

// touch notes an append.
func (n *notes) touch(se *session, last uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending[se.key] = note{Session: se.id, Last: last, At: se.wholes.prev, Count: se.wholes.count, Damage: n.pending[se.key].Damage}
}

// damaged notes what is wrong with a session.
func (n *notes) damaged(ctx context.Context, session, what string) {
	k := key(session)
	was, err := n.get(ctx, k)
	if err != nil {
		return // the next start finds out again
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, ok := n.pending[k]; ok {
		was = p
	}
	was.Session, was.Damage = session, what
	n.pending[k] = was
}

// get returns the note of a session, empty if there is none.
func (n *notes) get(ctx context.Context, k string) (note, error) {
	n.mu.Lock()
	p, ok := n.pending[k]
	n.mu.Unlock()
	if ok {
		return p, nil
	}
	e, err := n.kv.Get(ctx, k)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return note{}, nil
	}
	if err != nil {
		return note{}, fmt.Errorf("read the note of the session: %w", err)
	}
	return decodeNote(e.Value())
}

func decodeNote(value []byte) (note, error) {
	var was note
	if err := json.Unmarshal(value, &was); err != nil {
		return note{}, fmt.Errorf("read the note of a session: %w", err)
	}
	return was, nil
}

func (n *notes) remove(ctx context.Context, k string) error {
	n.writing.Lock()
	defer n.writing.Unlock()
	n.mu.Lock()
	delete(n.pending, k)
	n.mu.Unlock()
	if err := n.kv.Purge(ctx, k); err != nil {
		return fmt.Errorf("remove the note of the session: %w", err)
	}
	return nil
}

// flush writes what is pending.
func (n *notes) flush(ctx context.Context) error {
	n.mu.Lock()
	keys := slices.Collect(maps.Keys(n.pending))
	n.mu.Unlock()
	for _, k := range keys {
		if err := n.write(ctx, k); err != nil {
			return fmt.Errorf("note how far sessions have come: %w", err)
		}
	}
	return nil
}

func (n *notes) write(ctx context.Context, k string) error {
	n.writing.Lock()
	defer n.writing.Unlock()
	n.mu.Lock()
	p, ok := n.pending[k]
	n.mu.Unlock()
	if !ok {
		return nil
	}
	value, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if _, err := n.kv.Put(ctx, k, value); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending[k] == p {
		delete(n.pending, k)
	}
	return nil
}
