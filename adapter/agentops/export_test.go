package agentops

// Kept counts what the Decoder holds.
func (d *Decoder) Kept() int {
	n := len(d.prompts) + len(d.runs) + len(d.turns) + len(d.past) + len(d.asks) + len(d.fresh.asks) + len(d.fresh.settled) + len(d.fresh.unknown)
	for _, r := range d.runs {
		n += len(r.owners) + len(r.waits)
		if r.turn != nil {
			n += len(r.turn.order) + len(r.turn.calls) + len(r.turn.blocks)
		}
	}
	return n
}
