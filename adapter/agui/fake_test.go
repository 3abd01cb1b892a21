package agui_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/sse"
)

// got is the input of a run, as the fake endpoint reads it.
type got struct {
	ThreadID, RunID, ProtocolVersion string
	State                            any
	Messages                         []map[string]any
	Tools, Context                   []map[string]any
	ForwardedProps                   map[string]any
	Resume                           []map[string]any
	raw                              string
	header                           http.Header
	url                              string
}

// last is the text of the last message of a person.
func (g got) last() string {
	for _, m := range slices.Backward(g.Messages) {
		if m["role"] == "user" {
			return fmt.Sprint(m["content"])
		}
	}
	return ""
}

// brief are the messages in a few words each.
func (g got) brief() (all []string) {
	for _, m := range g.Messages {
		line := fmt.Sprint(m["role"], " ", m["id"])
		if m["content"] != nil {
			line += fmt.Sprint(" ", m["content"])
		}
		if calls, is := m["toolCalls"].([]any); is {
			for _, c := range calls {
				call := c.(map[string]any) //nolint:forcetypeassert,errcheck // a test
				f := call["function"].(map[string]any)
				line += fmt.Sprint(" ", call["id"], ":", f["name"], f["arguments"])
				if e := call["encryptedValue"]; e != nil {
					line += fmt.Sprint(" sealed ", e)
				}
			}
		}
		for _, key := range []string{"toolCallId", "error", "encryptedValue"} {
			if m[key] != nil {
				line += fmt.Sprint(" ", key, "=", m[key])
			}
		}
		all = append(all, line)
	}
	return all
}

// fake is an endpoint that does what the prompt says. Scripts are bodies of streams: an event
// in JSON on each line.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	inputs  []got
	scripts map[string][]string // the first for the prompt, the next for its further runs
	run     map[string]int
	hang    bool // the stream of the first run stays open
}

func newFake(t testing.TB, scripts map[string][]string) *fake {
	t.Helper()
	return newMortal(t, scripts, nil)
}

// newMortal is newFake with an endpoint that dies where the Cut says.
func newMortal(t testing.TB, scripts map[string][]string, c *agenttest.Cut) *fake {
	t.Helper()
	f := &fake{scripts: scripts, run: map[string]int{}}
	f.Server = httptest.NewServer(c.Serve(f))
	t.Cleanup(f.Close)
	return f
}

// input returns the input of the nth run.
func (f *fake) input(n int) got {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inputs[n]
}

func (f *fake) runs() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.inputs)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g := got{header: r.Header, url: r.URL.String()}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &g) != nil {
		http.Error(w, `{"detail":"no input"}`, http.StatusUnprocessableEntity)
		return
	}
	g.raw = string(body)
	prompt := g.last()
	f.mu.Lock()
	f.inputs = append(f.inputs, g)
	n := f.run[prompt]
	f.run[prompt]++
	script := f.scripts[prompt]
	f.mu.Unlock()
	switch {
	case len(script) > 0:
		f.stream(w, script[min(n, len(script)-1)])
		if f.hang && n == 0 {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	default:
		f.act(w, r, g, prompt)
	}
}

// act is what the endpoint does for the suite.
func (f *fake) act(w http.ResponseWriter, r *http.Request, g got, prompt string) {
	begin, end := `{"type":"RUN_STARTED","threadId":"s","runId":"r"}`, "\n"+`{"type":"RUN_FINISHED","threadId":"s","runId":"r"}`
	switch prompt {
	case "slow":
		flush := http.NewResponseController(w)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3000 {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text("m", "word ")); err != nil || r.Context().Err() != nil {
				return
			}
			_ = flush.Flush()
			time.Sleep(20 * time.Millisecond)
		}
	case "permit", "rich":
		if g.Resume == nil {
			if prompt == "rich" {
				begin = script(begin, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"t","delta":"I wonder. "}`, text("m", "I will touch it. "))
			}
			f.stream(w, begin+"\n"+called("c", "touch", `{"file":"a.txt"}`)+"\n"+interrupts(`{"id":"i","reason":"tool_call","toolCallId":"c"}`))
			return
		}
		result := "not run"
		if p, _ := g.Resume[0]["payload"].(map[string]any); p["approved"] == true {
			result = "touched"
		}
		f.stream(w, begin+"\n"+`{"type":"TOOL_CALL_RESULT","messageId":"t","toolCallId":"c","content":"`+result+`"}`+"\n"+text("m", result)+end)
	case "question":
		if g.Resume == nil {
			f.stream(w, begin+"\n"+interrupts(`{"id":"i","reason":"input_required","message":"Which?","responseSchema":{"type":"string","enum":["a","b"]}}`))
			return
		}
		f.stream(w, begin+"\n"+text("m", fmt.Sprint("You said ", g.Resume[0]["payload"]))+end)
	case "recall":
		f.stream(w, begin+"\n"+text("m", strings.Join(g.brief(), "; "))+end)
	case "error":
		f.stream(w, begin+"\n"+text("m", "so far ")+"\n"+`{"type":"RUN_ERROR","message":"the model is away","code":"upstream"}`)
	case "half", "die":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", text("m", "half "))
		if prompt == "half" {
			fmt.Fprint(w, `data: {"type":"TEXT_MES`)
		}
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "garbage":
		f.stream(w, begin+"\n{\n[]\n7\nnull\n\"text\"\n{\"type\":7}\n{\"type\":\"NEVER_HEARD_OF\"}\n"+text("m", "clean")+end)
	case "huge":
		f.stream(w, begin+"\n"+`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"`+strings.Repeat("x", sse.DefaultMax)+`"}`+end)
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>"))
	case "moved":
		http.Redirect(w, r, "https://elsewhere.test/", http.StatusTemporaryRedirect)
	case "busy":
		http.Error(w, `{"detail":"the thread is busy"}`, http.StatusConflict)
	default:
		f.stream(w, begin+"\n"+text("m", "Hello.")+end)
	}
}

// stream writes a script as server-sent events.
func (f *fake) stream(w http.ResponseWriter, script string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		_, _ = fmt.Fprintf(w, "event: whatever\nid: 7\ndata: %s\n\n: heartbeat\n\n", line)
	}
}

// text is a piece of a message.
func text(id, delta string) string {
	data, _ := json.Marshal(map[string]string{"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta})
	return string(data)
}

// called is a call with its input.
func called(id, tool, input string) string {
	args, _ := json.Marshal(map[string]string{"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": input})
	return fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":%q,"toolCallName":%q}`+"\n%s\n"+`{"type":"TOOL_CALL_END","toolCallId":%q}`, id, tool, args, id)
}

func result(id, content string) string {
	data, _ := json.Marshal(map[string]string{"type": "TOOL_CALL_RESULT", "messageId": "m-" + id, "toolCallId": id, "content": content})
	return string(data)
}

func interrupts(all ...string) string {
	return `{"type":"RUN_FINISHED","threadId":"s","runId":"r","outcome":{"type":"interrupt","interrupts":[` + strings.Join(all, ",") + `]}}`
}

const (
	started  = `{"type":"RUN_STARTED","threadId":"s","runId":"r","protocolVersion":"1.0"}`
	finished = `{"type":"RUN_FINISHED","threadId":"s","runId":"r","outcome":{"type":"success"}}`
)

// script joins events to the body of a stream.
func script(events ...string) string { return strings.Join(events, "\n") }
