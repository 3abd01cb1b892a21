package sqllog_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

// A file with one flipped bit, or one that is cut, is refused, or its sessions are all
// there; a record that cannot be read is an error. Nothing hangs. SQLite keeps no
// checksum, so that a bit inside a text may go unseen.
func TestASingleFlippedBitOrACutHidesNoSession(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	const sessions, turns, tries = 12, 40, 150
	for i := range sessions {
		id, person := fmt.Sprintf("session-%d", i), fmt.Sprintf("person-%d", i)
		e := eventlog.Entry{Session: id, Agent: "demo", CreatedBy: person, CreatedAt: time.Now(), Updated: time.Now(), Members: map[string]string{person: "owner"}, Doc: []byte(`{"by":"` + person + `"}`)}
		if err := s.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		for j := range turns {
			if _, err := s.Append(t.Context(), id, "t", batch(j)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.Dir, "tributary.db")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same places each time
	counts := map[string]int{}
	for i := range tries {
		hurt, at := bytes.Clone(whole), random.IntN(len(whole)*8)
		if i%10 == 9 {
			hurt = hurt[:at/8]
		} else {
			hurt[at/8] ^= 1 << (at % 8)
		}
		if err := os.WriteFile(name, hurt, 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		found, result := readDamaged(t, o)
		if found != sessions && result != "refused" {
			t.Errorf("bit %d: %d sessions of %d, and the gateway %s", at, found, sessions, result)
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("bit %d: it took %s", at, took)
		}
		counts[result]++
	}
	t.Logf("%d bytes: %v", len(whole), counts)
	if counts["refused"] == 0 || counts["works"] == 0 {
		t.Errorf("the damage is of one kind only: %v", counts)
	}
}

// readDamaged reads all that a damaged database has.
func readDamaged(t *testing.T, o sqllog.Options) (found int, result string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := sqllog.Open(ctx, o)
	if err != nil {
		return 0, "refused"
	}
	defer s.Close() //nolint:errcheck // a damaged database may say so at its end
	result = "works"
	for e, err := range s.List(ctx, eventlog.Query{}) {
		if err != nil {
			return found, "refused"
		}
		found++
		for _, err := range s.After(ctx, e.Session, 0) {
			if err != nil {
				result = "says that a record is damaged"
				break
			}
		}
	}
	return found, result
}
