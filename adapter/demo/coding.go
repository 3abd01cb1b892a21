package demo

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file plays the tools of a coding agent, beside its edits.

// printed is the output of a test run, with the colours of a terminal.
const printed = "\x1b[1m$ go test ./...\x1b[0m\r\n" +
	"\x1b[32mok  \x1b[0m\texample.com/river/source\t0.412s\n" +
	"\x1b[32mok  \x1b[0m\texample.com/river/delta\t1.207s\n" +
	"\x1b[33m?   \x1b[0m\texample.com/river/docs\t[no test files]\n" +
	"\x1b[31mFAIL\x1b[0m\texample.com/river/flood\t0.093s\n" +
	"    \x1b[38;5;208mflood_test.go:12\x1b[0m: the level is \x1b[4m7 m\x1b[24m, want \x1b[48;2;0;90;160m\x1b[97m5 m\x1b[0m\n" +
	"progress  10%\rprogress  60%\rprogress 100%\n" +
	"\x1b]8;;https://example.com\x07a link\x1b]8;;\x07 and a <b>tag</b> that is no tag\n"

func shell(s *stage) {
	s.say("I will run the tests.")
	tests := s.run("go test ./... && echo \"done\"")
	for line := range strings.Lines(printed) {
		if !s.waitPaces(20) {
			return
		}
		s.b.ToolResultDelta(tests, line)
	}
	s.result(trace.ToolResult{ToolCallID: tests, Status: trace.ToolCompleted})
	s.fails(s.run("make flood"), "make: *** No rule to make target 'flood'.  Stop.\nexit status 2")
	s.next("One package fails.")
}

func readFile(s *stage) {
	s.say("I will read the source.")
	s.complete(s.use("Read", map[string]any{"file_path": "src/river.go", "offset": 1, "limit": 40}), numbered(river))
	s.next("The river has a source and a mouth.")
}

// numbered is a text as coding agents read it, with the number of each line.
func numbered(text string) string {
	var all strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		all.WriteString(strconv.Itoa(n) + "\t" + line)
	}
	return all.String()
}

func search(s *stage) {
	s.say("I will search for the river.")
	s.complete(
		s.use("Grep", map[string]any{"pattern": "func .*River", "path": "src", "output_mode": "content"}),
		"src/river.go:9:func (r River) Flow() int {\nsrc/river.go:14:func NewRiver(name string) River {\nsrc/delta/delta.go:3:func Split(r river.River) []river.River {\n",
	)
	s.complete(s.use("Glob", map[string]any{"pattern": "**/*.go"}), "src/river.go\nsrc/delta/delta.go\nsrc/delta/delta_test.go")
	s.complete(s.use("Grep", map[string]any{"pattern": "ocean"}), "No matches found")
	s.next("I found two files.")
}

func fetch(s *stage) {
	s.say("I will look into the web.")
	s.complete(
		s.use("WebFetch", map[string]any{"url": "https://example.com/rivers", "prompt": "Which rivers are long?"}),
		"# Rivers\n\nThe **Rhine** is 1,233 km long. The *Danube* is 2,850 km long.",
	)
	s.complete(s.use("WebSearch", map[string]any{"query": "longest river of Europe"}), []map[string]string{
		{"title": "Volga", "url": "https://example.com/volga"}, {"title": "Danube", "url": "https://example.com/danube"},
	})
	s.emit(trace.Source{SourceID: "rivers", URL: "https://example.com/rivers", Title: "Rivers"})
	s.next("The Danube is longer than the Rhine.")
}

func todo(s *stage) {
	s.say("I will make a list.")
	tasks := []string{"Read the source", "Change the flow", "Run the tests"}
	for done := range len(tasks) + 1 {
		entries := make([]trace.PlanEntry, len(tasks))
		for i, task := range tasks {
			entries[i] = trace.PlanEntry{Content: task, Status: []trace.PlanStatus{trace.PlanCompleted, trace.PlanInProgress, trace.PlanPending}[cmp.Compare(i, done)+1]}
		}
		call := s.use("TodoWrite", map[string]any{"todos": entries})
		s.emit(trace.Plan{Entries: entries})
		s.complete(call, "Todos have been modified successfully.")
		s.waitPaces(20)
	}
	s.next("All is done.")
}

func nested(s *stage) {
	s.say("I will hand this to two sub-agents.")
	task := func(what string) string {
		return s.use("Task", map[string]string{"description": what, "prompt": what + ", please.", "subagent_type": "general-purpose"})
	}
	source, mouth := task("Find the source"), task("Find the mouth")
	s.under(source, func() {
		s.reason("The source may be in the mountains.")
		s.complete(s.use("Grep", map[string]string{"pattern": "source"}), "src/river.go:3:// A river has a source.")
		deeper := task("Look into the mountains")
		s.under(deeper, func() {
			s.complete(s.read("src/mountain.go"), "package river\n")
			s.say("There is a glacier.")
		})
		s.complete(deeper, "There is a glacier.")
		s.say("The source is a glacier.")
	})
	s.under(mouth, func() {
		s.say("I follow the river.")
		s.fails(s.read("src/sea.go"), "src/sea.go: no such file")
	})
	s.fails(mouth, "The sub-agent did not find the mouth.")
	s.complete(source, "The source is a glacier.")
	s.next("One of my sub-agents was successful.")
}

func unknown(s *stage) {
	s.say("I will use tools of an MCP server.")
	s.complete(s.use("mcp__weather__forecast", map[string]any{
		"city": "Basel", "days": 3, "units": map[string]any{"temperature": "celsius", "wind": nil}, "layers": []string{"rain", "snow"}, "exact": true,
	}), map[string]any{"days": []map[string]any{{"high": 12.5, "low": 3, "text": "rain"}, {"high": 9, "low": -1, "text": "snow <b>&</b> wind"}}, "source": nil})
	s.complete(s.use("mcp__weather__ping", map[string]any{}), nil)
	s.next("It rains, and then it snows.")
}
