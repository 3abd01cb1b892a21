package logtest

import (
	"context"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
)

// Open returns a store for one test, and closes it when the test ends (which may
// have closed it before).
type Open func(t *testing.T) eventlog.Store

// Run puts the stores that open returns to the test.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, eventlog.Store)
	}{
		{"numbers", numbers},
		{"ranges", ranges},
		{"kinds", kinds},
		{"turns", turns},
		{"interleaved turns", interleaved},
		{"messages", messages},
		{"messages of a long session", manyMessages},
		{"unknown session", unknownSession},
		{"session ids", sessionIDs},
		{"large records", largeRecords},
		{"append beside readers", appendBesideReaders},
		{"first append beside readers", firstAppendBesideReaders},
		{"concurrent appends", concurrentAppends},
		{"follow", follow},
		{"follow durable", followDurable},
		{"wake-ups are not lost", wakeUps},
		{"many followers", manyFollowers},
		{"registry", registry},
		{"registry by person and time", registryQueries},
		{"registry by agent, phase and archive", registryChoices},
		{"search", search},
		{"search after a rewind", searchRewound},
		{"search after the edit of a prompt that waits", searchEdited},
		{"search after changes at the same time", searchTogether},
		{"a document with records", appendWith},
		{"the newest document stays", newestStays},
		{"exporters", exporting},
		{"exporters of turns that overlap", exportingOverlap},
		{"exporters of a session that is deleted", exportingDeleted},
		{"ends of turns", endsOfTurns},
		{"grants", granting},
		{"delete", deletion},
		{"delete beside others", deleteBesideOthers},
		{"early break", earlyBreak},
		{"canceled", canceled},
		{"closed", closed},
		{"close beside appends and reads", closeBesideWork},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.test(t, s)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bounded is a context that ends a test that hangs with a clear failure.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	return ctx
}
