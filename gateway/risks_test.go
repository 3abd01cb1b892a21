package gateway_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// patient is an agent that says a word every minute for twenty minutes.
type patient struct{}

func (patient) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return patient{}, nil
}

func (patient) Prompt(_ context.Context, _ agent.Prompt, b *trace.Builder) error {
	for range 20 {
		time.Sleep(time.Minute)
		b.MessageDelta("t", "word ")
	}
	return nil
}

func (patient) Close() error { return nil }

// A turn outlasts what platforms allow a stream, a quarter of an hour, and no proxy
// ever waits more than 15 s for a byte of it.
func TestI13_F06_F07_ALongTurnIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, func(o *session.Options) {
			o.Agents["demo"] = session.Agent{Runtime: patient{}, Cwd: t.TempDir()}
		})
		defer end()
		conn := p.send(post("/api/chat", submit("c1", "u1", "review all of it")))
		defer conn.Close()
		began, last, longest := time.Now(), time.Now(), time.Duration(0)
		var all strings.Builder
		for buf := make([]byte, 4096); !strings.Contains(all.String(), "data: [DONE]"); {
			n, err := conn.Read(buf)
			if err != nil {
				t.Fatalf("after %s: %v\n%s", time.Since(began), err, all.String())
			}
			all.Write(buf[:n])
			longest, last = max(longest, time.Since(last)), time.Now()
		}
		if took := time.Since(began); took != 20*time.Minute || strings.Count(all.String(), `"delta":"word "`) != 20 || strings.Contains(all.String(), `"error"`) {
			t.Errorf("after %s:\n%s", took, all.String())
		}
		if longest > 15*time.Second {
			t.Errorf("the stream was silent for %s", longest)
		}
		p.counts("demo", 1, 0, 0, 0)
		if h := p.of("tributary_chat_duration_seconds", "demo").GetHistogram(); h.GetSampleSum() != 1200 {
			t.Errorf("measured %v", h)
		}
	})
}

// Well over a hundred clients follow one session, and the metrics show how many.
func TestI14_ManyStreamsOfOneSessionAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, end := measured(t, nil)
		defer end()
		const clients = 120
		bodies := make(chan string, clients+1)
		follow := func(request string) {
			conn := p.send(request)
			go func() {
				defer conn.Close()
				var all strings.Builder
				for buf := make([]byte, 4096); !strings.Contains(all.String(), "data: [DONE]"); {
					n, err := conn.Read(buf)
					all.Write(buf[:n])
					if err != nil {
						break
					}
				}
				_, body, _ := strings.Cut(all.String(), "event: start")
				bodies <- body
			}()
		}
		follow(post("/api/chat", submit("c1", "u1", "slow")))
		synctest.Wait()
		for range clients {
			follow("GET /api/chat/c1/stream HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		if n := p.families()["tributary_streams"].GetMetric()[0].GetGauge().GetValue(); n != clients+1 {
			t.Errorf("%v streams", n)
		}
		first := <-bodies
		if !strings.Contains(first, `"type":"finish"`) {
			t.Errorf("a client got\n%s", first)
		}
		for range clients {
			if body := <-bodies; text(body) != text(first) {
				t.Errorf("one client got\n%s\nand another\n%s", body, first)
			}
		}
		if n := p.families()["tributary_streams"].GetMetric()[0].GetGauge().GetValue(); n != 0 {
			t.Errorf("%v streams after the end", n)
		}
		p.counts("demo", 1, 0, 0, 0)
	})
}

// text is what a stream says, whatever the pieces in which it came.
func text(stream string) (all string) {
	for {
		_, rest, ok := strings.Cut(stream, `"delta":"`)
		if !ok {
			return all
		}
		delta, rest, _ := strings.Cut(rest, `"`)
		all, stream = all+delta, rest
	}
}
