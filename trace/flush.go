package trace

// This file waits until events are on record.

// Flush returns when everything that was written so far is on record. A caller
// needs Flush for an order between two turns; within one turn the order is certain.
func (b *Builder) Flush() error {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.flush()
}
