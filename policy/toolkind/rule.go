package toolkind

import (
	"github.com/tributary-dev/tributary/trace"
)

// rule is what a table knows of a tool.
type rule struct {
	kind trace.ToolKind
	// patch says that the gravest of the input's changes decides the kind.
	patch bool
	// verb begins the title.
	verb string
	// about are the keys of the input that the title may name, best first.
	about []string
	form  form
	// texts are the keys of the input whose strings name no file.
	texts []string
	// paths and commands are keys that hold a path or a command, beside those of all tools.
	paths, commands []string
	// globs are the keys whose strings are patterns of file names.
	globs []string
	// lists are the keys that hold a list of paths. Elsewhere a list where a path
	// is expected is not understood.
	lists []string
	// namesOnly says that the tool reads no file.
	namesOnly bool
	// common is the tool's name in the AI SDK's harness, if it has one.
	common Common
}

// form says how a title shows what the call is about.
type form int

const (
	plain   form = iota // as it is
	file                // the last element of a path
	code                // between back quotes
	quoted              // between quotation marks
	pointed             // after a colon
)

// touchesFiles reports whether tools of a kind work on files that their input names.
func touchesFiles(k trace.ToolKind) bool {
	switch k {
	case trace.ToolRead, trace.ToolEdit, trace.ToolDelete, trace.ToolMove, trace.ToolSearch:
		return true
	default:
		return false
	}
}

// The constructors below hold what the tools of most agents have in common.

func read() rule {
	return rule{kind: trace.ToolRead, verb: "Read", about: pathKeys(), form: file, common: CommonRead}
}

// readMany takes a list of paths.
func readMany(keys ...string) rule {
	return rule{kind: trace.ToolRead, verb: "Read", about: keys, form: file, lists: keys, texts: []string{"query"}}
}

func write() rule {
	return rule{kind: trace.ToolEdit, verb: "Write", about: pathKeys(), form: file, texts: contentKeys(), common: CommonWrite}
}

func edit() rule {
	return rule{kind: trace.ToolEdit, verb: "Edit", about: pathKeys(), form: file, texts: contentKeys(), common: CommonEdit}
}

// patch takes a text that names the files itself.
func patch() rule { return rule{kind: trace.ToolEdit, verb: "Apply a patch"} }

func grep() rule {
	return rule{
		kind: trace.ToolSearch, verb: "Search for", about: []string{"pattern", "query", "regex"}, form: quoted,
		texts: []string{"pattern", "query", "regex"}, globs: filterKeys(), common: CommonGrep,
	}
}

func glob() rule {
	return rule{
		kind: trace.ToolSearch, verb: "Find", about: []string{"pattern", "glob_pattern", "query"}, form: code,
		globs: append(filterKeys(), "pattern", "glob_pattern", "query"), namesOnly: true, common: CommonGlob,
	}
}

func list() rule {
	return rule{kind: trace.ToolSearch, verb: "List", about: pathKeys(), form: file, globs: filterKeys(), namesOnly: true}
}

func lookup(verb string, about ...string) rule {
	return rule{kind: trace.ToolSearch, verb: verb, about: about, form: pointed, texts: about}
}

func run() rule {
	return rule{
		kind: trace.ToolExecute, verb: "Run", about: commandKeys(), form: code, common: CommonBash,
		texts: []string{"description", "explanation", "justification"},
	}
}

// shell handles a command that was begun earlier.
func shell(verb string, about ...string) rule {
	return rule{kind: trace.ToolExecute, verb: verb, about: about}
}

func fetch() rule {
	return rule{kind: trace.ToolFetch, verb: "Fetch", about: []string{"url", "urls", "prompt"}}
}

// resource is for tools that read what a server or the agent itself has, and no file of the
// workspace, whatever path their input names.
func resource(verb string, about ...string) rule {
	return rule{kind: trace.ToolFetch, verb: verb, about: about}
}

func webSearch() rule {
	return rule{kind: trace.ToolFetch, verb: "Search the web for", about: []string{"query"}, form: quoted, common: CommonWebSearch}
}

func think(verb string, about ...string) rule {
	return rule{kind: trace.ToolThink, verb: verb, about: about, form: pointed}
}

func delegate() rule { return think("Delegate", "description", "prompt", "objective") }

func mode(verb string, about ...string) rule {
	return rule{kind: trace.ToolSwitchMode, verb: verb, about: about}
}

func ask() rule {
	return rule{kind: trace.ToolOther, verb: "Ask the user", about: []string{"question"}, form: pointed, common: CommonAskUser}
}

func other(verb string, about ...string) rule {
	return rule{kind: trace.ToolOther, verb: verb, about: about}
}

// as changes the verb.
func (r rule) as(verb string) rule {
	r.verb = verb
	return r
}

// of changes the kind; only the tools of the AI SDK's harness keep its name.
func (r rule) of(kind trace.ToolKind, verb string) rule {
	r.kind, r.verb, r.common = kind, verb, ""
	return r
}

// pathKeys are the keys under which agents put the file that a call is about.
func pathKeys() []string {
	return []string{
		"file_path", "filePath", "notebook_path", "absolute_path", "path", "paths", "filepath", "filename", "target_file",
		"dir_path", "directory", "source", "destination", "source_path", "destination_path", "old_path", "new_path", "move_path", "abs_path",
		"cwd", "workdir", "working_directory",
	}
}

// contentKeys are the keys under which agents put what is to be written.
func contentKeys() []string {
	all := append(wholeKeys(), "code_edit", "new_source", "insert_text", "diff", "instruction", "instructions", "description", "explanation")
	for _, pair := range pieceKeys() {
		all = append(all, pair[:]...)
	}
	return all
}

// wholeKeys are the keys under which agents put the whole text of a file.
func wholeKeys() []string { return []string{"content", "contents", "file_text", "text"} }

// pieceKeys are the pairs of keys under which agents put a piece of a file, and what replaces it.
func pieceKeys() [][2]string {
	return [][2]string{{"old_string", "new_string"}, {"oldString", "newString"}, {"old_str", "new_str"}, {"oldText", "newText"}}
}

// filterKeys are the keys under which searches take patterns of file names.
func filterKeys() []string {
	return []string{"glob", "include", "exclude", "ignore", "include_pattern", "exclude_pattern", "includePattern", "file_pattern"}
}

// backgroundKeys are switches of shells that change nothing but when a command ends.
func backgroundKeys() []string {
	return []string{"run_in_background", "is_background", "isBackground", "background"}
}

// detailKeys are the keys under which tools for files take words that change how they work, and
// not on what.
func detailKeys() []string {
	return []string{
		"output_mode", "outputMode", "type", "file_type", "operation", "command", "mode", "edit_mode", "cell_type", "cell_id",
		"encoding", "format", "pages", "view_range", "line_range", "sort", "sort_by", "description", "explanation", "task_progress",
	}
}

func commandKeys() []string { return []string{"command", "cmd", "script", "code", "chars"} }
