package langgraph

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/agent"
)

// Options are the settings of a graph that every source of this package takes.
type Options struct {
	// Show are the only places that the user sees, if it is not empty: names of nodes,
	// tag:NAME, or namespace:PATH with everything below.
	Show []string `json:"show"`
	// Hide are places that the user does not see, in the same words.
	Hide []string `json:"hide"`
	// Participants names the speaker of a node, if the graph itself names none.
	Participants map[string]string `json:"participants"`
	// Subgraphs says how the messages of subgraphs are shown: flat, which is the default,
	// data (one data part for each message), or hide.
	Subgraphs string `json:"subgraphs"`
	// MessagesKey is the key of the state that holds the messages; messages if empty.
	MessagesKey string `json:"messages_key"`
	// PassToken sends the token of the person who asks, instead of one of the gateway's.
	PassToken bool `json:"pass_token"`
	// Silence is how long a stream may say nothing. Then a run of a server is joined again,
	// and the turn of a backend fails. Empty is for ever, and 5 minutes for a backend.
	Silence agent.Duration `json:"silence"`
}

func (o Options) validate() error {
	if !slices.Contains([]string{"", "flat", "data", "hide"}, o.Subgraphs) {
		return agent.WrongSetting("options.subgraphs", "is %q: write flat, data or hide", o.Subgraphs)
	}
	return nil
}

func (o Options) messagesKey() string { return cmp.Or(o.MessagesKey, "messages") }
