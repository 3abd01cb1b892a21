package trace

// Flush returns when everything that was written so far is on record. It is for
// whoever needs an order between two turns; within one there is always one.
func (b *Builder) Flush() error {
	t := b.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.flush()
}
