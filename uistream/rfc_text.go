package uistream

import "slices"

// This file has the single text of a message in the dialect of the RFC.

// The one text of a message in the dialect of the Agent Ops RFC.

// queuedText is a part of text that has not ended. Parts are sent one after another,
// because one text cannot hold two at once; and history, which knows only full texts, must
// give the same order.
type queuedText struct {
	id   string
	open bool
	held []byte // what waits for its turn
}

func (d *rfc) queued(id string) int {
	return slices.IndexFunc(d.queue, func(q *queuedText) bool { return q.open && q.id == id })
}

// enqueue puts a part behind those that are open.
func (d *rfc) enqueue(id string) {
	d.queue = append(d.queue, &queuedText{id: id, open: true})
	if len(d.queue) == 1 {
		d.startText()
	}
}

// dequeue ends a part, and writes what has waited behind it.
func (d *rfc) dequeue(id string) {
	if i := d.queued(id); i >= 0 {
		d.queue[i].open = false
		d.flushNext(false)
	}
}

// write adds to the text, if the part is the first in the queue.
func (d *rfc) write(id, delta string) {
	i := d.queued(id)
	if i < 0 {
		d.enqueue(id)
		i = len(d.queue) - 1
	}
	if i > 0 {
		d.queue[i].held = append(d.queue[i].held, delta...)
		return
	}
	d.startText()
	d.emit(TextDelta{ID: d.text, Delta: delta})
}

// flushNext writes what parts have held that are first now; all of them, if the queue is to
// be empty.
func (d *rfc) flushNext(all bool) {
	for len(d.queue) > 0 && (all || !d.queue[0].open) {
		if d.queue = d.queue[1:]; len(d.queue) == 0 {
			return
		}
		next := d.queue[0]
		d.startText()
		if len(next.held) > 0 {
			d.emit(TextDelta{ID: d.text, Delta: string(next.held)})
			next.held = nil
		}
	}
}

// startText begins the text, or goes on with it where it was ended for an approval.
func (d *rfc) startText() {
	if !d.writing {
		d.writing = true
		d.emit(TextStart{ID: d.text})
	}
}

func (d *rfc) endText() {
	d.flushNext(true)
	if d.writing {
		d.writing = false
		d.emit(TextEnd{ID: d.text})
	}
}
