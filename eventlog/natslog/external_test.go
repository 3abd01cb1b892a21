package natslog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/logtest"
	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

// external runs a NATS server on a port, as an operator would.
func external(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server did not start")
	}
	return s
}

func TestExternal(t *testing.T) {
	t.Parallel()
	url := external(t).ClientURL()
	var n atomic.Int32
	logtest.Run(t, func(t *testing.T) eventlog.Store {
		return open(t, natslog.Options{URL: url, Name: fmt.Sprintf("test%d", n.Add(1))})
	})
}

func bucket(t *testing.T, url string) jetstream.KeyValue {
	t.Helper()
	c, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "tributary_lease", TTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// logged are the events of records.
func logged(rs []trace.Record) []trace.Event {
	events := make([]trace.Event, len(rs))
	for i, r := range rs {
		events[i] = r.Event
	}
	return events
}

func TestLease(t *testing.T) {
	t.Parallel()
	url := external(t).ClientURL()
	options := natslog.Options{URL: url, Lease: time.Second}
	s := open(t, options)
	log := write(t, s, "s", "t", 0, 5)
	var held *eventlog.HeldError
	if _, err := natslog.Open(t.Context(), options); !errors.As(err, &held) || !strings.Contains(held.Holder, "process ") {
		t.Fatalf("the second opener got %v", err)
	}
	time.Sleep(3 * time.Second / 2) // it is renewed
	log = append(log, write(t, s, "s", "t", 5, 5)...)
	epoch := s.Epoch()
	closeStore(t, s)
	s = open(t, options)
	if s.Epoch() != epoch {
		t.Error("the epoch changed")
	}
	sameRecords(t, read(t, s, "s"), log)
}

// TestLeaseOfTheDead: a gateway that was killed doesn't hold up the next one for
// longer than the lease.
func TestLeaseOfTheDead(t *testing.T) {
	t.Parallel()
	url := external(t).ClientURL()
	if _, err := bucket(t, url).Create(t.Context(), "gateway", []byte("a process that is dead")); err != nil {
		t.Fatal(err)
	}
	write(t, open(t, natslog.Options{URL: url, Lease: time.Second}), "s", "t", 0, 1)
}

func TestLostLease(t *testing.T) {
	t.Parallel()
	url := external(t).ClientURL()
	s := open(t, natslog.Options{URL: url, Lease: time.Second})
	log := write(t, s, "s", "t", 0, 5)
	if _, err := bucket(t, url).Put(t.Context(), "gateway", []byte("process 4711 elsewhere")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		_, err := s.Append(ctx, "other", "t", nil)
		if err == nil {
			_, err = s.Append(ctx, "other", "t", logged(log))
		}
		if err != nil {
			if !strings.Contains(err.Error(), "process 4711 elsewhere has it now") {
				t.Fatal(err)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	sameRecords(t, read(t, s, "s"), log) // reading is still allowed
	if err := s.Put(ctx, "s", nil); err == nil {
		t.Error("the registry can be written to without a lease")
	}
	if err := s.Delete(ctx, "s"); err == nil {
		t.Error("a session can be deleted without a lease")
	}
}

// TestWriterElsewhere: a foreign message makes the next append fail, not mix.
func TestWriterElsewhere(t *testing.T) {
	t.Parallel()
	srv := external(t)
	s := open(t, natslog.Options{URL: srv.ClientURL()})
	log := write(t, s, "s", "t", 0, 4)
	c, err := nats.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	st, err := js.Stream(t.Context(), "tributary_wholes")
	if err != nil {
		t.Fatal(err)
	}
	m, err := st.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), m.Subject, []byte(`{"prev":0,"first":90,"last":89}`+"\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), "s", "t", logged(log[:1])); err == nil || !strings.Contains(err.Error(), "somebody else has written") {
		t.Fatalf("an append beside a foreign one returned %v", err)
	}
	if last, err := s.Append(t.Context(), "s", "t", logged(log[:1])); err != nil || last <= 5 {
		t.Fatalf("the append after that returned %d, %v", last, err)
	}
	if s.Damaged()["s"] == "" {
		t.Error("a foreign message went unnoticed")
	}
}
