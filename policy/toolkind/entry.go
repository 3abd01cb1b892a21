package toolkind

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// Entry describes one tool of an agent whose table is not in this package; see [New].
type Entry struct {
	Kind trace.ToolKind
	// Paths are the keys of the input that hold a path, beside the common ones such as
	// path and file_path.
	Paths []string
	// Commands are the keys that hold a command, beside the common ones such as command.
	// Only a tool that executes has commands.
	Commands []string
	// Texts are the keys whose strings name no file, such as the content of a file. A
	// policy takes the strings under all other keys for paths.
	Texts []string
}

// New returns the table of an agent's tools, by the agent's own names.
func New(tools map[string]Entry) (Table, error) {
	rules := map[string]rule{}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		e := tools[name]
		kind, err := ParseKind(string(e.Kind))
		switch {
		case name == "":
			return Table{}, fmt.Errorf("a tool without a name has the kind %s: give it the name that the agent uses", e.Kind)
		case err != nil:
			return Table{}, fmt.Errorf("the tool %s: %w", name, err)
		case len(e.Commands) > 0 && kind != trace.ToolExecute:
			return Table{}, fmt.Errorf("the tool %s has keys for commands, and the kind %s: give it the kind %s", name, kind, trace.ToolExecute)
		}
		r := rule{kind: kind, verb: spoken(name), paths: e.Paths, commands: e.Commands, texts: e.Texts}
		switch {
		case kind == trace.ToolExecute:
			r.about, r.form = slices.Concat(e.Commands, commandKeys()), code
		case touchesFiles(kind):
			r.about, r.form = slices.Concat(e.Paths, pathKeys()), file
		}
		rules[name] = r
	}
	return Table{rules: rules}, nil
}
