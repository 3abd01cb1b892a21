package toolkind

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file guesses what a tool does that no table knows, by its name.

// Guess returns the table with a kind for each tool that it does not know and that has a common
// name, such as read_file or runCommand. The table is for an agent whose tools are those of any
// application. A guess is for people and for readers of the trace. A policy judges by [Table.Judged],
// because a name alone proves nothing: any tool may call itself read_file.
func (t Table) Guess() Table {
	t.guesses = true
	return t
}

// Judged returns a call as a policy judges it. Of an agent whose kinds are guesses only the kinds of
// the configuration count, and each other call is of the kind other.
func (t Table) Judged(c trace.ToolCall) trace.ToolCall {
	if _, configured := t.override(c.RawName); t.guesses && !configured {
		c.ToolKind = trace.ToolOther
	}
	return c
}

// guess returns the kind that a name suggests; other if it suggests none. Case and separators do not
// count, nor does the server of an MCP tool.
func guess(rawName string) trace.ToolKind {
	if _, tool, ok := mcpParts(rawName); ok {
		rawName = tool
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-. :/", r) {
			return -1
		}
		return r
	}, strings.ToLower(rawName))
	switch name {
	case "read", "readfile", "readfiles", "readmanyfiles", "readtextfile", "fileread", "viewfile", "view", "openfile", "loadfile", "getfile", "getfilecontents", "cat":
		return trace.ToolRead
	case "write", "writefile", "filewrite", "writetofile", "createfile", "savefile", "appendfile", "appendtofile", "updatefile",
		"edit", "editfile", "fileedit", "multiedit", "edits", "replaceinfile", "strreplace", "strreplaceeditor", "strreplacebasededittool",
		"searchreplace", "searchandreplace", "insertcontent", "patch", "patchfile", "applypatch", "applydiff", "notebookedit":
		return trace.ToolEdit
	case "deletefile", "deletefiles", "filedelete", "removefile", "deletedirectory", "removedirectory", "rm":
		return trace.ToolDelete
	case "movefile", "filemove", "renamefile", "mv":
		return trace.ToolMove
	case "grep", "grepsearch", "ripgrep", "rg", "glob", "globsearch", "findfile", "findfiles", "filesearch", "searchfile", "searchfiles", "searchfilecontent",
		"codesearch", "searchcode", "codebasesearch", "semanticsearch", "ls", "listfiles", "listdir", "listdirectory", "listdirectories", "directorytree":
		return trace.ToolSearch
	case "bash", "executebash", "runbash", "bashcodeexecution", "sh", "zsh", "shell", "runshell", "localshell", "shellcommand", "runshellcommand", "powershell", "terminal",
		"exec", "execcommand", "executecommand", "runcommand", "runterminalcmd", "runterminalcommand", "runinterminal",
		"python", "runpython", "executepython", "pythonrepl", "codeinterpreter", "runcode", "executecode", "codeexecution":
		return trace.ToolExecute
	case "fetch", "fetchurl", "urlfetch", "webfetch", "fetchpage", "fetchwebpage", "readurl", "openurl", "browse", "browseurl", "httpget", "httprequest", "scrape", "scrapeurl",
		"websearch", "searchweb", "internetsearch", "searchinternet", "googlesearch", "googlewebsearch", "bravesearch", "duckduckgosearch", "tavilysearch", "tavilysearchresultsjson":
		return trace.ToolFetch
	case "think", "thinking", "sequentialthinking", "updateplan", "todowrite", "writetodos", "updatetodos", "todoread", "readtodos":
		return trace.ToolThink
	case "switchmode", "enterplanmode":
		return trace.ToolSwitchMode
	}
	return trace.ToolOther
}
