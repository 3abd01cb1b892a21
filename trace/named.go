package trace

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file makes the data that several agents have in common.

// The names of data that more than one agent has. They are events of the agent's
// world: no step holds them, and a stream shows them on request. Each replaces the one
// before.
const (
	dataTitle    = "title"
	dataMode     = "mode"
	dataModes    = "modes"
	dataModels   = "models"
	dataCommands = "commands"
	dataAgent    = "agent"
	dataScore    = "score"
	dataTiming   = "timing"
)

// Mode is a way in which an agent works, such as plan. The JSON form is that of the
// data named modes.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// Model is a model that an agent can use.
type Model struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// Command is a command that a prompt can begin with, without the slash.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Hint says what may follow the name.
	Hint string `json:"hint,omitempty"`
}

// Title is the title of the session.
func Title(title string) Payload {
	return Data{Name: dataTitle, Value: quote.JSON(title)}
}

// CurrentMode says which mode the agent works in now.
func CurrentMode(id string) Payload {
	return world(dataMode, struct {
		Mode string `json:"mode"`
	}{id})
}

// Modes lists the modes of the agent, and which one the agent works in now.
func Modes(current string, modes []Mode) Payload {
	return world(dataModes, struct {
		Current string `json:"current,omitempty"`
		Modes   []Mode `json:"modes"`
	}{current, append([]Mode{}, modes...)})
}

// Models lists the models of the agent, and which one the agent uses now.
func Models(current string, models []Model) Payload {
	return world(dataModels, struct {
		Current string  `json:"current,omitempty"`
		Models  []Model `json:"models"`
	}{current, append([]Model{}, models...)})
}

// Commands lists the commands of the agent.
func Commands(commands []Command) Payload {
	return world(dataCommands, struct {
		Commands []Command `json:"commands"`
	}{append([]Command{}, commands...)})
}

// CodeSummary is the code of a notice which says that a summary stands for the turns before this one. Its
// message is a sentence for the user, an empty line, and the summary.
const CodeSummary = "summary"

// Notice tells the user of an incident that does not end the turn. The code is for
// programs, the text for people.
func Notice(code, text string) Payload { return Error{Code: code, Message: text, Level: LevelNotice} }

func world(name string, value any) Data {
	return Data{Name: name, ID: name, Domain: true, Value: quote.JSON(value)}
}

// ofWorld reads the value of data that world has made under this name.
func ofWorld[V any](d Data, name string) (value V, ok bool) {
	if d.Name != name || !d.Domain {
		return value, false
	}
	ok = json.Unmarshal(d.Value, &value) == nil
	return value, ok
}
