package uistream

import (
	"fmt"
	"slices"
	"strings"
)

// This file chooses the domain events that a stream shows.

// DomainEvents says which events of the agent's world a stream shows, beside the
// conversation. The zero value shows none. They are comparable.
type DomainEvents uint32

// allDomainEvents also shows those whose name is not in the list.
const allDomainEvents DomainEvents = 1 << 31

// domainNames are the events that can be chosen, by the name of their data part
// without "data-". A question and an approval are shown in another form in any case;
// chosen here, they are data parts as well.
//
//nolint:gochecknoglobals // never written
var domainNames = []string{
	"approval", "audit-log", "auth-required", "child-session", "commands", "diff", "edge", "files-changed", "flow-status", "git-state", "loop",
	"messages-removed", "mode", "model-switched", "models", "modes", "node", "node-output", "presence", "pull-request", "question", "queue", "review-result",
	"session-status", "state-patch", "title", "toast",
}

// ParseDomainEvents reads a list of names, or of the one word "all".
func ParseDomainEvents(names []string) (DomainEvents, error) {
	var d DomainEvents
	for _, name := range names {
		at := slices.Index(domainNames, name)
		switch {
		case name == "all" && len(names) == 1:
			return allDomainEvents, nil
		case name == "all":
			return 0, fmt.Errorf("holds all beside other names: write all alone")
		case at < 0:
			return 0, fmt.Errorf("holds %.40q: write all, or some of %s", name, strings.Join(domainNames, ", "))
		case d&(1<<at) != 0:
			return 0, fmt.Errorf("holds %s twice: write it once", name)
		}
		d |= 1 << at
	}
	return d, nil
}

func (d DomainEvents) wants(name string) bool {
	at := slices.Index(domainNames, name)
	return d == allDomainEvents || at >= 0 && d&(1<<at) != 0
}
