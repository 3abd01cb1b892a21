package sqllog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/eventlog"
)

// damages is what was found damaged.
type damages struct {
	mu       sync.Mutex
	sessions map[string]map[string]struct{}
}

// mostNoted bounds what is remembered of one session, but for Recover, which counts all of it.
const mostNoted = 100

// note remembers that something of a session is damaged. The log has one line for each
// session.
func (s *Store) note(session, what string) {
	d := &s.damages
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.sessions[session]
	if known == nil {
		known = map[string]struct{}{}
		d.sessions[session] = known
		s.opts.Logger.Error("a session is damaged on disk: restore a back-up, or delete the session (docs/deploy/backup.md)", "session", session, "damaged", what)
	}
	if len(known) < mostNoted || s.opts.recovering {
		known[what] = struct{}{}
	}
}

// forgetDamage forgets a session that was deleted.
func (s *Store) forgetDamage(session string) {
	s.damages.mu.Lock()
	defer s.damages.mu.Unlock()
	delete(s.damages.sessions, session)
}

// Damage implements eventlog.Registry.
func (s *Store) Damage() eventlog.Damage {
	s.damages.mu.Lock()
	defer s.damages.mu.Unlock()
	d := eventlog.Damage{Sessions: map[string]string{}}
	for session, what := range s.damages.sessions {
		d.Sessions[session] = lost(what)
	}
	return d
}

// lost names what is damaged of a session, three things at most.
func lost(what map[string]struct{}) string {
	const enough = 3
	all := slices.Sorted(maps.Keys(what))
	if len(all) > enough {
		return fmt.Sprintf("%s and %d more things are damaged or lost", strings.Join(all[:enough], ", "), len(all)-enough)
	}
	if len(all) == 1 {
		return all[0] + " is damaged or lost"
	}
	return strings.Join(all, ", ") + " are damaged or lost"
}

func isDamage(err error) bool {
	_, is := errors.AsType[*eventlog.DamageError](err)
	return is
}
