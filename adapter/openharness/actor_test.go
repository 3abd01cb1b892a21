package openharness_test

import (
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// The packages of Open Harness and Open Scaffold are not published, so the tests talk to
// stand-ins. Their routes, answers, events, and faults are those of the project's source:
// the WebSocket of January 2026, the HTTP server of version 0.2, and the server of Open
// Scaffold. One thing differs: the real server of Open Scaffold records an answer, and its
// workflow does not take it.

// actor is an agent in one of the languages.
type actor interface {
	think(text string)
	say(text string)
	tool(name, input, output, failed string)
	raw(text string)
	fail(why string)
	ask(kind, prompt string, options ...string) (answer string, ok bool)
	die(half bool)
	aborted()
	end()
}

// perform plays what the last word of the prompt names.
func perform(a actor, prompt string, stop <-chan struct{}) {
	how := ""
	if words := strings.Fields(prompt); len(words) > 0 {
		how = words[len(words)-1]
	}
	switch how {
	case "slow":
		for range 3000 {
			a.say("word ")
			select {
			case <-stop:
				a.aborted()
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	case "words":
		for range 20 {
			a.say("word ")
		}
	case "tool":
		a.think("I need two tools.")
		a.say("I look. ")
		a.tool("Bash", `{"command":"ls"}`, `"a.txt"`, "")
		a.tool("Bash", `{"command":"lx"}`, "", "no such command")
		a.think("I see.")
		a.say("One file.")
	case "garbage":
		a.raw("{nonsense")
		a.raw(`[1,2,3]`)
		a.raw(`"text"`)
		a.raw(`{"type":7}`)
		a.raw(`{"type":"event","event":{"type":"agent:text","content":[1]}}`)
		a.say("Beside the garbage.")
	case "fake":
		a.say("data: x\n\nevent: fake\ndata: {\"type\":\"event\"}\n\n\u2028 日本語 😀")
	case "huge":
		a.say(agenttest.HugeText())
	case "line":
		a.say(strings.Repeat("y", 200<<10))
	case "die", "half":
		a.say("So far. ")
		a.die(how == "half")
		return
	case "error":
		a.fail("the model is away")
		return
	case "permit", "rich":
		if how == "rich" {
			a.think("May I?")
			a.say("I ask. ")
		}
		answer, ok := a.ask("approval", "Touch it?")
		if !ok {
			return
		}
		a.say("The answer was " + answer + ".")
	case "question":
		answer, ok := a.ask("choice", "Which colour?", "red", "blue")
		if !ok {
			return
		}
		a.say("You chose " + answer + ".")
	default:
		a.think("Hm.")
		a.say("You said: ")
		a.say(prompt)
	}
	a.end()
}
