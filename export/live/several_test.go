package live_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/export/live"
	"github.com/tributary-dev/tributary/export/otlp/otlptest"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

var postgres pgtest.Server //nolint:gochecknoglobals // one for all tests

func TestMain(m *testing.M) {
	code := m.Run()
	postgres.Stop()
	os.Exit(code)
}

// onPostgres is a gateway's log on a database that others use too.
func onPostgres(t *testing.T, url string) *place {
	t.Helper()
	s, err := sqllog.Open(t.Context(), sqllog.Options{Dir: t.TempDir(), URL: url, Lease: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return newPlace(t, s)
}

// Of two gateways on one database each sends the turns of its sessions, and when one has died, the other sends
// what is left.
func TestTwoGateways(t *testing.T) {
	t.Parallel()
	url := postgres.Database(t)
	first, second := onPostgres(t, url), onPostgres(t, url)
	second.turns = 1000
	r, dead := &taken{}, make(chan struct{})
	sent := map[string]int{}
	r.Reject = func(s otlptest.Span) string {
		if strings.HasPrefix(s.Name, "invoke_agent") {
			sent[fmt.Sprint(s.Attrs["input.value"])]++
		}
		return ""
	}
	one, other := first.start(until{r, dead}), second.start(r)
	for range 20 {
		first.turn("a", "claude")
		second.turn("b", "claude")
	}
	wait := func(turns int64, exporters ...*live.Exporter) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			n := int64(0)
			for _, e := range exporters {
				n += e.Status().Turns
			}
			if n == turns {
				return
			}
			if n > turns || time.Now().After(deadline) {
				t.Fatalf("%d turns were sent, want %d; %+v", n, turns, other.Status())
			}
		}
	}
	wait(40, one, other)
	waiting(t, other, 0)
	close(dead)
	first.turn("a", "claude")
	first.turn("a", "claude")
	one.Stop()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	wait(22, other)
	waiting(t, other, 0)
	_ = r.Requests() // with its lock: `sent` is complete
	for turn, n := range sent {
		if n != 1 {
			t.Errorf("%q was sent %d times", turn, n)
		}
	}
	if len(sent) != 42 || r.Faults() != nil {
		t.Errorf("%d turns arrived; %v", len(sent), r.Faults())
	}
}

// until passes requests on until its end.
type until struct {
	http.RoundTripper

	end chan struct{}
}

func (u until) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-u.end:
		return never{}.RoundTrip(req)
	default:
		return u.RoundTripper.RoundTrip(req)
	}
}
