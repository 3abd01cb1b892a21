package sqllog

import (
	"errors"
	"slices"
	"time"
)

// Pauses between the attempts to reach a database that is away.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
	// awaySaidEvery is how often the log of the gateway says that the database is away.
	awaySaidEvery = time.Minute
)

// enqueue hands an op to the writer, who closes its done.
func (s *Store) enqueue(o *op) {
	o.done = make(chan struct{})
	if o.se != nil {
		o.se.flight = append(o.se.flight, o)
	}
	s.mu.Lock()
	s.queue = append(s.queue, o)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// batchBytes is about how much one transaction writes at most.
const batchBytes = 16 << 20

// gathered takes what waits, in order, as much as one transaction is to write.
func (s *Store) gathered() []*op {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for size := 0; n < len(s.queue) && size < batchBytes; n++ {
		size += s.queue[n].size()
	}
	ops := slices.Clone(s.queue[:n])
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil
	}
	return ops
}

// run is the writer. It ends when the store closes and the queue is empty.
func (s *Store) run() {
	defer close(s.written)
	for stopped := false; !stopped; {
		select {
		case <-s.more:
		case <-s.stop:
			stopped = true
		}
		for ops := s.gathered(); len(ops) > 0; ops = s.gathered() {
			s.write(ops)
		}
	}
}

// write commits the ops, and those that gather while the database is away.
func (s *Store) write(ops []*op) {
	pause := firstPause
	for len(ops) > 0 {
		var verdicts []error
		err := s.whyUnusable()
		if err == nil {
			verdicts, err = s.commit(ops)
		}
		switch {
		case err == nil:
			for i, o := range ops {
				o.complete(s, verdicts[i])
			}
			return
		case s.whyUnusable() != nil, s.becomeUnusable(err):
			for _, o := range ops {
				o.complete(s, err)
			}
			return
		case s.db.lost(err):
			s.sayAway(err)
			ops = s.expire(ops, err)
			time.Sleep(pause)
			pause = min(2*pause, longestPause)
			ops = append(ops, s.gathered()...)
		case len(ops) > 1 && !s.db.full(err):
			for _, o := range ops { // the database refuses one of them
				s.write([]*op{o})
			}
			return
		default:
			for _, o := range ops {
				o.complete(s, s.db.sentence(err))
			}
			return
		}
	}
}

// sayAway logs that the database is away, once in a while for as long as that lasts.
func (s *Store) sayAway(err error) {
	now := time.Now()
	if s.awaySince.IsZero() {
		s.awaySince = now
	}
	if now.Sub(s.awaySaid) >= awaySaidEvery {
		s.awaySaid = now
		s.opts.Logger.Warn("the database is away, trying again", "since", s.awaySince, "error", s.db.sentence(err))
	}
}

// sayBack logs that a database that was away has taken a transaction.
func (s *Store) sayBack() {
	if s.awaySince.IsZero() {
		return
	}
	s.opts.Logger.Info("the database is back", "seconds", time.Since(s.awaySince).Seconds())
	s.awaySince, s.awaySaid = time.Time{}, time.Time{}
}

// expire fails the ops that have waited too long, and returns the others. The writes of turns that have begun wait longest: their
// agents stand still meanwhile, and if another gateway takes the session, the database refuses these writes.
func (s *Store) expire(ops []*op, err error) []*op {
	longest := s.opts.Outage
	if s.db.exclusive {
		longest = s.opts.Lease
	}
	return slices.DeleteFunc(ops, func(o *op) bool {
		o.tried = true
		patience := s.opts.Patience
		if o.records != nil && (!o.durable() || o.turn != "" && o.begins == 0 && !s.db.exclusive) {
			patience = longest
		}
		if time.Since(o.began) < patience && time.Since(s.awaySince) < longest {
			return false
		}
		o.complete(s, s.db.sentence(err))
		return true
	})
}

// commit puts the ops into one transaction. Each has a verdict of its own if the
// transaction was committed.
func (s *Store) commit(ops []*op) ([]error, error) {
	verdicts := make([]error, len(ops))
	sync, size := false, 0
	var writing []*op
	for _, o := range ops {
		size += o.size()
		if o.writes() || o.records != nil && !s.isSure() {
			writing = append(writing, o)
			sync = sync || o.synced()
		}
	}
	if len(writing) == 0 {
		return verdicts, nil
	}
	ctx, cancel := s.db.bounded(s.life, size+s.unsynced.bytes)
	defer cancel()
	connections := s.db.connections.Load()
	tx, err := s.db.begin(ctx, sync)
	again := s.unsynced.again(s.db.connections.Load())
	if err == nil && again != nil && !sync {
		_ = tx.Rollback()
		sync = true
		tx, err = s.db.begin(ctx, sync)
	}
	if err != nil {
		return nil, err
	}
	if s.newestSynced.connections != s.db.connections.Load() {
		if err := s.checkNewestSynced(ctx, tx); err != nil {
			return nil, errors.Join(err, ignoreDone(tx.Rollback()))
		}
	}
	for _, o := range again { // one by one: a later one may replace or remove what one has written
		if _, _, err = s.transact(ctx, tx, []*op{o}); err != nil {
			return nil, errors.Join(err, ignoreDone(tx.Rollback()))
		}
	}
	refused, moved, err := s.transact(ctx, tx, writing)
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return nil, errors.Join(err, ignoreDone(tx.Rollback()))
	}
	written := slices.DeleteFunc(writing, func(o *op) bool { return refused[o.se] != nil })
	if s.newestSynced.connections = connections; sync {
		s.newestSynced.keep(written)
	}
	s.unsynced.keep(written, sync || s.db.exclusive, connections)
	s.sayBack()
	for se, p := range moved {
		se.place = p
	}
	for i, o := range ops {
		verdicts[i] = refused[o.se]
	}
	return verdicts, nil
}
