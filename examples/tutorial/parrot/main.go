// Command parrot is a small agent that speaks in lines of JSON. It repeats the prompt
// word by word, and asks before it runs a command.
//
//	the host writes    {"prompt":"…"}  {"answer":"r1","allow":true}  {"stop":true}
//	the parrot writes  {"ready":true}  {"text":"…"}  {"ask":"r1","call":"c1","command":"…"}
//	                   {"result":"c1","output":"…"}  {"done":"end_turn"}
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

type line struct {
	Prompt string `json:"prompt"`
	Answer string `json:"answer"`
	Allow  bool   `json:"allow"`
	Stop   bool   `json:"stop"`
}

func main() {
	lines := make(chan line)
	go func() {
		defer close(lines)
		for in := bufio.NewReader(os.Stdin); ; {
			data, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var l line
			if json.Unmarshal(data, &l) == nil {
				lines <- l
			}
		}
	}()
	say(map[string]any{"ready": true})
	for l := range lines {
		if l.Prompt != "" {
			say(map[string]any{"done": turn(l.Prompt, lines)})
		}
	}
}

func say(fields map[string]any) {
	data, _ := json.Marshal(fields)
	fmt.Println(string(data))
}

// turn plays one turn and returns how it ended.
func turn(prompt string, lines <-chan line) string {
	if command, runs := strings.CutPrefix(prompt, "run "); runs {
		say(map[string]any{"ask": "r1", "call": "c1", "command": command})
		for l := range lines {
			switch {
			case l.Stop:
				return "stopped"
			case l.Answer == "r1" && !l.Allow:
				say(map[string]any{"text": "I did not run it."})
				return "end_turn"
			case l.Answer == "r1":
				say(map[string]any{"result": "c1", "output": "ran " + command})
				return "end_turn"
			}
		}
	}
	for word := range strings.FieldsSeq(prompt) {
		say(map[string]any{"text": word + " "})
		select {
		case l, open := <-lines:
			if l.Stop || !open { // the host has gone
				return "stopped"
			}
		case <-time.After(10 * time.Millisecond):
		}
	}
	return "end_turn"
}
