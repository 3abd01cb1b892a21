package thread

import (
	"fmt"
	"strconv"
	"strings"
)

// This file has the agent's own ids of its work.

// mostNames bounds the names that are kept in memory.
const mostNames = 10_000

// Names are the agent's own ids of its steps, and the turns that have them. A client may
// name a message by such an id, so an id belongs to one turn. The zero Names are empty.
type Names struct {
	turns map[string]string
	first map[string]string // the first name of each turn, which is the name of its message
	order []string          // the names, the oldest first
}

// Give finds a name for work of a turn. A name that another turn has gets a number: the
// agent has forgotten it, or its turn was ended here.
func (n *Names) Give(turn, name string) string {
	given := name
	for again := 2; n.turns[given] != "" && n.turns[given] != turn; again++ {
		given = fmt.Sprintf("%s~%d", name, again)
	}
	n.Note(turn, given)
	return given
}

// Own is the agent's name of what Give has named.
func Own(given string) string {
	name, again, numbered := strings.Cut(given, "~")
	if _, err := strconv.ParseUint(again, 10, 64); numbered && err == nil {
		return name
	}
	return given
}

// Note takes over a name that is on record.
func (n *Names) Note(turn, name string) {
	if n.turns[name] != "" {
		return
	}
	if len(n.order) == mostNames {
		oldest := n.order[0]
		if turn := n.turns[oldest]; n.first[turn] == oldest {
			delete(n.first, turn)
		}
		delete(n.turns, oldest)
		n.order = n.order[1:]
	}
	if _, named := n.first[turn]; !named {
		setInMap(&n.first, turn, name)
	}
	setInMap(&n.turns, name, turn)
	n.order = append(n.order, name)
}

// TurnOf is the turn whose message has the name.
func (n *Names) TurnOf(name string) (turn string, ok bool) {
	turn = n.turns[name]
	return turn, turn != "" && n.first[turn] == name
}
