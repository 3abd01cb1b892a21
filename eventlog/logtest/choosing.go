package logtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// registryChoices checks that a list holds the sessions that every part of a query chooses.
func registryChoices(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	begin := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	var all []eventlog.Entry
	for i := range 48 {
		e := eventlog.Entry{
			Session: fmt.Sprintf("s%02d", i), CreatedBy: []string{"ann", "bob"}[i/24], Agent: []string{"demo", "a \x00 agent"}[i/12%2], Phase: eventlog.Phase(i / 4 % 3),
			Archived: i/2%2 == 1, CreatedAt: begin, Updated: begin.Add(time.Duration(i) * time.Second), Doc: []byte("{}"),
		}
		if i%2 == 1 {
			e.Members = map[string]string{"cem": "viewer"}
		}
		must(t, s.Put(ctx, e))
		all = append(all, e)
	}
	slices.Reverse(all)
	yes, no := true, false
	for _, person := range []string{"", "ann", "cem"} {
		for _, agent := range []string{"", "demo", "a \x00 agent", "none"} {
			for _, phases := range [][]eventlog.Phase{nil, {eventlog.Closed}, {eventlog.Open}, {eventlog.Failed}, {eventlog.Closed, eventlog.Failed}} {
				for _, archived := range []*bool{nil, &yes, &no} {
					q := eventlog.Query{Person: person, Agent: agent, Phases: phases, Archived: archived}
					var want, got []string
					for _, e := range all {
						if (person == "" || person == e.CreatedBy || e.Members[person] != "") && (agent == "" || agent == e.Agent) &&
							(phases == nil || slices.Contains(phases, e.Phase)) && (archived == nil || *archived == e.Archived) {
							want = append(want, e.Session)
						}
					}
					for e, err := range s.List(ctx, q) {
						must(t, err)
						got = append(got, e.Session)
						if i := slices.IndexFunc(all, func(a eventlog.Entry) bool { return a.Session == e.Session }); e.Phase != all[i].Phase || e.Archived != all[i].Archived {
							t.Errorf("%s is listed as %+v", e.Session, e)
						}
					}
					same(t, fmt.Sprintf("the sessions of %+v", q), got, want)
				}
			}
		}
	}
}
