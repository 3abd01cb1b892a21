package remote

import (
	"context"
	"time"

	"github.com/tributary-dev/tributary/agent"
)

// This file reads the stream of a Feed.

// reopenings is how many times in a row the stream may fail to open, and idleness how often in a row
// a server may work on nothing while a turn runs.
const (
	reopenings = 6
	idleness   = 3
)

// read opens the stream and reads it until the connection ends.
func (s *Session) read(ctx context.Context, c *connection) error {
	stop := context.AfterFunc(ctx, c.end)
	stream, err := s.openFeed(c)
	if !stop() && err == nil {
		stream.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	s.Go(func(life context.Context) {
		defer context.AfterFunc(life, c.end)()
		for stream != nil {
			s.hear(c, stream) //nolint:contextcheck // the connection has a context of its own
			if stream = s.reopen(c); stream != nil {
				s.catchUp(c)
			}
		}
		s.Lost(s.death(c))
		c.end()
	})
	return nil
}

// openFeed opens the stream, which ends with the connection.
func (s *Session) openFeed(c *connection) (Stream, error) {
	return s.spec.Feed.Stream(c.life, Call{Method: "GET", Path: s.spec.Feed.Path}, agent.Caller{})
}

// reopen opens the stream again. It returns nil when the connection or the process has ended, or
// the server cannot be reached.
func (s *Session) reopen(c *connection) Stream {
	for failures := range reopenings {
		select {
		case <-time.After(min(100*time.Millisecond<<failures, 2*time.Second)):
		case <-c.done:
			return nil
		case <-c.life.Done():
			return nil
		}
		stream, err := s.openFeed(c)
		if err == nil {
			return stream
		}
		s.Config().Logger.Debug("the event stream does not open", "error", err)
	}
	return nil
}

// hear hands the events of one stream to the Decoder.
func (s *Session) hear(c *connection, stream Stream) {
	news, watched := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(c, news)
	}()
	silence := time.AfterFunc(3*s.spec.Feed.CheckTime, stream.Close)
	for e, err := range stream.Events() {
		silence.Stop() // a server is not silent while its event is decoded
		if s.Room(c.life) != nil {
			break
		}
		s.event(e, err, news)
		silence.Reset(3 * s.spec.Feed.CheckTime)
	}
	silence.Stop()
	close(news)
	stream.Close()
	<-watched
}

// event hands an event to the Decoder.
func (s *Session) event(e Event, err error, news chan<- struct{}) {
	if err != nil {
		s.Config().Logger.Debug("an event was skipped", "error", err)
		return
	}
	if is := s.spec.Feed.Heartbeat; is == nil || !is(e.Data) {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	if err := s.Received(agent.Message{Dir: agent.Out, Channel: e.Name, Data: e.Data}); err != nil {
		s.Config().Logger.Warn(err.Error())
	}
}

// watch catches up while a turn is silent, and ends a turn that the server has forgotten.
func (s *Session) watch(c *connection, news <-chan struct{}) {
	idle := 0
	for {
		select {
		case _, open := <-news:
			if !open {
				return
			}
			idle = 0
			continue
		case <-time.After(s.spec.Feed.CheckTime):
		}
		if !s.Busy() || !s.catchUp(c) {
			idle = 0
			continue
		}
		if idle++; idle == idleness {
			s.Lost(lostStop(s.spec.Name + " does not work on the prompt any more and has told no end: send the prompt again."))
		}
	}
}

// catchUp reads what the stream may have missed, and reports whether a turn goes on although
// the server works on nothing.
func (s *Session) catchUp(c *connection) bool {
	idle, err := s.follower.CatchUp(c.life)
	if err != nil {
		s.Config().Logger.Debug("what was missed cannot be read", "error", err)
	}
	return idle
}
