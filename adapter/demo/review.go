package demo

import (
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// This file plays edits of files that do not exist.

// river is the text of src/river.go.
const river = `package river

// A River has a source and a mouth.
type River struct {
	Name  string
	Level int
}

func (r River) Flow() int {
	// The flow is the level.
	return r.Level
}

func NewRiver(name string) River {
	return River{Name: name}
}
`

const (
	oldFlow = "\t// The flow is the level.\n\treturn r.Level\n"
	newFlow = "\t// The flow doubles in spring.\n\tif r.spring() {\n\t\treturn 2 * r.Level\n\t}\n\treturn r.Level\n"
)

func edit(s *stage) {
	s.say("I will change the flow.")
	s.edit("src/river.go", river, oldFlow, newFlow)
	s.next("The flow doubles in spring now.")
}

// edit changes a part of a file, as Claude Code does.
func (s *stage) edit(path, text, before, after string) {
	call := s.use("Edit", map[string]string{"file_path": path, "old_string": before, "new_string": after})
	s.complete(call, "The file "+path+" has been updated successfully.")
	s.changed(call, path, trace.FileModified, text, strings.Replace(text, before, after, 1))
}

// changed says that a call has changed a file.
func (s *stage) changed(callID, path string, how trace.ChangeKind, before, after string) {
	s.emit(trace.FileChange{Path: path, Change: how, ToolCallID: callID, Diff: trace.UnifiedDiff(path, before, after)})
}

func review(s *stage) {
	s.say("I will change several files.")
	s.edit("src/river.go", river, oldFlow, newFlow)

	season := "package river\n\nimport \"time\"\n\n// spring reports whether the snow melts.\nfunc (r River) spring() bool {\n\treturn time.Now().Month() < time.June\n}\n"
	call := s.use("Write", map[string]string{"file_path": "src/season.go", "content": season})
	s.complete(call, "File created successfully at: src/season.go")
	s.changed(call, "src/season.go", trace.FileCreated, "", season)

	readme := "# River\n\nA library for rivers.\n\n## Use\n\n    river.NewRiver(\"Rhine\")\n"
	s.edit("README.md", readme, "A library for rivers.", "A library for rivers <and> streams & their seasons.")
	s.edit("web/style/app.css", "body {\n  color: black;\n}\n", "color: black", "color: rebeccapurple")

	call = s.use("delete_file", map[string]string{"path": "src/old/flood.go"})
	s.complete(call, "Deleted src/old/flood.go.")
	s.changed(call, "src/old/flood.go", trace.FileDeleted, "package old\n\n// Flood is gone.\nfunc Flood() {}\n", "")

	call = s.use("move_file", map[string]string{"source": "docs/guide.md", "destination": "docs/guides/rivers.md"})
	s.complete(call, "Moved docs/guide.md to docs/guides/rivers.md.")
	s.emit(trace.FileChange{
		Path: "docs/guides/rivers.md", Change: trace.FileMoved, ToolCallID: call,
		Diff: "--- docs/guide.md\n+++ docs/guides/rivers.md\n@@ -1,3 +1,3 @@\n-# Guide\n+# Rivers\n \n How to follow a river.\n",
	})

	table := foxes(6 << 10)
	s.edit("data/table.txt", table, "000042 the quick", "000042 the slow")

	call = s.use("Write", map[string]string{"file_path": "assets/logo.png", "content": "(binary)"})
	s.complete(call, "File created successfully at: assets/logo.png")
	s.emit(trace.FileChange{Path: "assets/logo.png", Change: trace.FileCreated, ToolCallID: call})
	s.next("I changed four files, made two, moved one and deleted one.")
}

// change asks before it edits a file. The user may replace the new text.
func change(s *stage) {
	s.say("I would like to change the flow.")
	input := map[string]string{"file_path": "src/river.go", "old_string": oldFlow, "new_string": newFlow}
	call := s.use("Edit", input)
	if s.err != nil {
		return
	}
	asked := agentkit.Approve(s.b, trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: s.id("approval"), ToolCallID: call, Title: "Edit src/river.go"}})[0]
	text, says := s.allowed(s.ctx, asked, call, "new_string", newFlow)
	if text == "" {
		s.next(says)
		return
	}
	s.complete(call, "The file src/river.go has been updated successfully.")
	s.changed(call, "src/river.go", trace.FileModified, river, strings.Replace(river, oldFlow, text, 1))
	s.next("I have changed the flow.")
}
