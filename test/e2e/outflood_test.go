//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
)

// frame is a chunk of an endpoint of the AI SDK, as a server-sent event.
func frame(format string, args ...any) string {
	return "data: " + fmt.Sprintf(format, args...) + "\n\n"
}

// outFlood is what an endpoint writes: a beginning, and then the same again and again. The
// number of the repetition takes the place of #.
type outFlood struct{ begin, again string }

// filler is the text that a flood is made of.
func filler(n int) string { return strings.Repeat("x", n) }

// outFloods are the floods of an endpoint, by name.
func outFloods() map[string]outFlood {
	const kilo10 = 10_000
	return map[string]outFlood{
		"input of one call": {
			frame(`{"type":"tool-input-start","toolCallId":"a","toolName":"t"}`),
			frame(`{"type":"tool-input-delta","toolCallId":"a","inputTextDelta":"%s"}`, filler(kilo10)),
		},
		"inputs of many calls": {
			"",
			frame(`{"type":"tool-input-start","toolCallId":"c#","toolName":"t"}`) +
				frame(`{"type":"tool-input-delta","toolCallId":"c#","inputTextDelta":"%s"}`, filler(kilo10)),
		},
		"whole inputs": {
			"",
			frame(`{"type":"tool-input-available","toolCallId":"c#","toolName":"t","input":{"a":"%s"}}`, filler(1<<20)),
		},
		"one whole input of 60 MB": {
			"",
			frame(`{"type":"tool-input-available","toolCallId":"c#","toolName":"t","input":{"a":"%s"}}`, filler(60<<20)),
		},
		"text": {
			frame(`{"type":"text-start","id":"a"}`), frame(`{"type":"text-delta","id":"a","delta":"%s"}`, filler(kilo10)),
		},
		"texts that stay open": {
			"",
			frame(`{"type":"text-start","id":"t#"}`) + frame(`{"type":"text-delta","id":"t#","delta":"%s"}`, filler(1<<20)),
		},
		"reasoning": {
			frame(`{"type":"reasoning-start","id":"a"}`), frame(`{"type":"reasoning-delta","id":"a","delta":"%s"}`, filler(kilo10)),
		},
		"preliminary outputs": {
			frame(`{"type":"tool-input-available","toolCallId":"a","toolName":"t","input":{}}`),
			frame(`{"type":"tool-output-available","toolCallId":"a","output":"%s","preliminary":true}`, filler(100_000)),
		},
		"outputs": {
			"",
			frame(`{"type":"tool-input-available","toolCallId":"c#","toolName":"t","input":{}}`) +
				frame(`{"type":"tool-output-available","toolCallId":"c#","output":"%s"}`, filler(10<<20)),
		},
		"error texts": {
			"",
			frame(`{"type":"tool-input-available","toolCallId":"c#","toolName":"t","input":{}}`) +
				frame(`{"type":"tool-output-error","toolCallId":"c#","errorText":"%s"}`, filler(10<<20)),
		},
		"data":               {"", frame(`{"type":"data-x","data":"%s"}`, filler(10<<20))},
		"data of 60 MB":      {"", frame(`{"type":"data-x","data":"%s"}`, filler(60<<20))},
		"transient data":     {"", frame(`{"type":"data-x","transient":true,"data":{"a":1}}`)},
		"small data":         {"", frame(`{"type":"data-x","id":"one","data":#}`)},
		"files":              {"", frame(`{"type":"file","mediaType":"image/png","url":"data:image/png;base64,%s"}`, filler(1<<20))},
		"sources":            {"", frame(`{"type":"source-url","sourceId":"%s#","url":"https://example.com"}`, filler(1<<20))},
		"metadata":           {"", frame(`{"type":"message-metadata","messageMetadata":{"a#":"%s"}}`, filler(1<<20))},
		"keys of chunks":     {"", frame(`{"type":"source-url","sourceId":"s","url":"https://example.com","providerMetadata":{"a":{"b":"%s"}}}`, filler(1<<20))},
		"chunks of no type":  {"", frame(`{"type":"from-the-future-#","a":"%s"}`, filler(1<<20))},
		"empty deltas":       {frame(`{"type":"text-start","id":"a"}`), frame(`{"type":"text-delta","id":"a","delta":""}`)},
		"empty input deltas": {frame(`{"type":"tool-input-start","toolCallId":"a","toolName":"t"}`), frame(`{"type":"tool-input-delta","toolCallId":"a","inputTextDelta":""}`)},
		"starts":             {"", frame(`{"type":"text-start","id":"t#"}`)},
		"steps":              {"", frame(`{"type":"start-step"}`) + frame(`{"type":"finish-step"}`)},
		"ids of 1 MB":        {"", frame(`{"type":"tool-input-start","toolCallId":"%s#","toolName":"t"}`, filler(1<<20))},
		"one id of 8 MB": {
			frame(`{"type":"tool-input-start","toolCallId":"%s","toolName":"t"}`, filler(8<<20)),
			frame(`{"type":"tool-input-delta","toolCallId":"%s","inputTextDelta":"1"}`, filler(8<<20)),
		},
		"names of 1 MB":  {"", frame(`{"type":"tool-input-start","toolCallId":"c#","toolName":"%s"}`, filler(1<<20))},
		"titles of 1 MB": {"", frame(`{"type":"tool-input-start","toolCallId":"c#","toolName":"t","title":"%s"}`, filler(1<<20))},
		"small calls":    {"", frame(`{"type":"tool-input-available","toolCallId":"c#","toolName":"t","input":{"a":"#"}}`)},
		"approvals": {
			frame(`{"type":"tool-input-available","toolCallId":"a","toolName":"t","input":{}}`),
			frame(`{"type":"tool-approval-request","approvalId":"p#","toolCallId":"a"}`),
		},
	}
}

// brokenFloods are floods that another rule ends than the bounds of a turn, with its sentence.
func brokenFloods() (floods map[string]outFlood, says map[string]string) {
	floods = map[string]outFlood{
		"comments":      {"", ":\n\n"},
		"one line":      {`data: {"type":"text-delta","id":"a","delta":"`, filler(1 << 20)},
		"nested values": {`data: {"type":"tool-input-available","toolCallId":"d","toolName":"t","input":`, strings.Repeat("[", 1<<16)},
	}
	says = map[string]string{
		"comments": "said nothing for 1s", "one line": "an event does not end", "nested values": "an event does not end",
	}
	return floods, says
}

// flooding is an endpoint whose prompt names the flood. A flood ends after so many bytes, or
// when the gateway leaves.
func flooding(t *testing.T, floods map[string]outFlood, most int) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for name, f := range floods {
			if !bytes.Contains(body, []byte(`"flood: `+name+`"`)) {
				continue
			}
			_, _ = io.WriteString(w, frame(`{"type":"start"}`)+f.begin)
			for n, sent := 0, 0; sent < most && r.Context().Err() == nil; {
				var block strings.Builder
				for block.Len() < 64<<10 {
					n++
					block.WriteString(strings.ReplaceAll(f.again, "#", fmt.Sprint(n)))
				}
				sent += block.Len()
				if _, err := io.WriteString(w, block.String()); err != nil {
					return
				}
			}
			_, _ = io.WriteString(w, frame(`{"type":"finish"}`)+"data: [DONE]\n\n")
			return
		}
		http.Error(w, "no such flood", http.StatusNotFound)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestAnEndpointThatFloods: an endpoint that writes without end, in whatever part of its
// protocol, fails its turn with a sentence and costs the gateway bounded memory. Turns beside it
// work. Floods that are large against the fixed bounds of memory have the default limits, and a
// gateway each. The turns of the others may write less, to be quick, and have one gateway: what it
// kept of all of them would count. TRIBUTARY_TEST_FULL=1 also runs the
// slow ones, which reach a bound by the same way as another flood:
//   - text, input of one call: TestAgentThatSpams and TestAgentThatSpamsInput write them with the default limits
//   - inputs of many calls: they are held as texts that stay open are
//   - whole inputs, data of 60 MB: one whole input of 60 MB, and data
//   - error texts: they travel as outputs
//   - ids of 1 MB: they are held as names, and as one id of 8 MB
//
//evidence:for limit-event limit-held limit-turn-bytes limit-turn-records
func TestAnEndpointThatFloods(t *testing.T) {
	const most = 300 << 20
	broken, says := brokenFloods()
	all := outFloods()
	maps.Copy(all, broken)
	s := flooding(t, all, most)
	gateway := func(t *testing.T, limits string) *process {
		t.Helper()
		config := filepath.Join(t.TempDir(), "tributary.yaml")
		text := "log_level: warn\ndefault_agent: demo\nlimits: {" + limits + "}\nagents:\n  demo: {options: {pace: 0s}}\n  flood: {adapter: uiendpoint, url: " + s.URL + "}\n"
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return start(t, t.TempDir(), slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOMEMLIMIT=") }), "--config", config)
	}
	for name := range broken {
		t.Run(name, func(t *testing.T) {
			limits := ""
			if name == "comments" { // the only one that ends because nothing is said
				limits = "}\nsessions: {idle_limit: 1s"
			}
			p := gateway(t, limits)
			p.flooded(t, name, says[name])
			p.end()
		})
	}
	small := gateway(t, "turn_bytes: 8MB, turn_records: 2000")
	slow := []string{"data of 60 MB", "error texts", "ids of 1 MB", "input of one call", "inputs of many calls", "text", "whole inputs"}
	large := []string{"data", "input of one call", "inputs of many calls", "one whole input of 60 MB", "text", "texts that stay open", "whole inputs"}
	for _, name := range slices.Sorted(maps.Keys(outFloods())) {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(slow, name) && !agenttest.Full() {
				t.Skip("TRIBUTARY_TEST_FULL=1 runs it: another flood reaches the same bound by the same way")
			}
			p := small
			if slices.Contains(large, name) {
				p = gateway(t, "")
				defer p.end()
			}
			p.flooded(t, name, "which is the most that", "send a new message to go on.")
		})
	}
	small.end()
}

// flooded runs a turn of the flood, which ends with the words of a sentence, and another client's
// turn beside it.
func (p *process) flooded(t *testing.T, name string, words ...string) {
	t.Helper()
	p = &process{p.Server, t, p.data} // its turns fail this test
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	body, err := json.Marshal(prompt(name, "flood: "+name))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		status, end := p.send(ctx, p.Token(), "POST", "/api/chat?agent=flood", body)
		ended <- fmt.Sprint(status, " ", end)
	}()
	if quiet := p.chat("beside "+name, "hello", nil); !quiet.done || !strings.Contains(quiet.text, "demo agent") {
		t.Errorf("a turn beside it: %q", quiet.text)
	}
	end := <-ended
	if !strings.HasPrefix(end, "200 ") || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(end, w) }) {
		t.Errorf("the turn ends with %.600q", end)
	}
	if peak := p.peak(t); peak > mostMemory {
		t.Errorf("the gateway took %d MB", peak>>20)
	} else {
		t.Logf("%d MB at most", peak>>20)
	}
}
