package langgraph_test

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
)

// fake is a LangGraph server. The last word of the prompt chooses what the graph does.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	threads map[string][]string // the prompts of each
	runs    map[string]*fakeRun
	waits   map[string]string // the prompt of the interrupted run of a thread
	states  map[string][]any  // the messages of each thread's state
	calls   []string
	hidden  bool // the server wants a person's token
}

type fakeRun struct {
	id, thread, prompt string // prompt is the gateway's id of it
	status             string
	frames             []string
	stop, over         chan struct{}
}

func newFake(t testing.TB) *fake {
	t.Helper()
	return newCutFake(t, nil)
}

// newCutFake is a fake whose streams pass through a Cut.
func newCutFake(t testing.TB, c *agenttest.Cut) *fake {
	t.Helper()
	f := &fake{threads: map[string][]string{}, runs: map[string]*fakeRun{}, waits: map[string]string{}, states: map[string][]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /info", f.answer(func(*http.Request) any { return map[string]string{"version": "0", "context": "js"} }))
	mux.HandleFunc("POST /threads", f.answer(func(*http.Request) any {
		id := fmt.Sprintf("thread-%d", len(f.threads)+1)
		f.threads[id] = []string{}
		return map[string]string{"thread_id": id}
	}))
	mux.HandleFunc("GET /threads/{t}", f.answer(func(r *http.Request) any {
		if prompts, ok := f.threads[r.PathValue("t")]; ok {
			status := "idle"
			if slices.Contains(prompts, "busy elsewhere") {
				status = "busy"
			}
			return map[string]string{"thread_id": r.PathValue("t"), "status": status}
		}
		return nil
	}))
	mux.HandleFunc("GET /threads/{t}/state", f.answer(func(r *http.Request) any {
		return map[string]any{
			"checkpoint": map[string]string{"checkpoint_id": fmt.Sprint("after-", len(f.threads[r.PathValue("t")]))},
			"values":     map[string]any{"messages": f.states[r.PathValue("t")]},
		}
	}))
	mux.HandleFunc("POST /threads/{t}/state", f.answer(func(r *http.Request) any {
		var body struct {
			From string `json:"checkpoint_id"`
			Node string `json:"as_node"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		var keep int
		if n, _ := fmt.Sscanf(body.From, "after-%d", &keep); n != 1 || body.Node != "__copy__" {
			return nil
		}
		f.threads[r.PathValue("t")] = slices.Clone(f.threads[r.PathValue("t")][:keep])
		return map[string]string{}
	}))
	mux.HandleFunc("GET /threads/{t}/runs", f.answer(func(r *http.Request) any {
		all := []any{}
		for n := 1; n <= len(f.runs); n++ {
			if run := f.runs[fmt.Sprint("run-", n)]; run != nil && run.thread == r.PathValue("t") {
				all = append(all, map[string]any{"run_id": run.id, "status": run.status, "created_at": time.Unix(int64(n), 0), "metadata": map[string]string{"tributary_prompt": run.prompt}})
			}
		}
		return all
	}))
	mux.HandleFunc("GET /threads/{t}/runs/{r}", f.answer(func(r *http.Request) any {
		if run := f.runs[r.PathValue("r")]; run != nil {
			return map[string]string{"run_id": r.PathValue("r"), "thread_id": r.PathValue("t"), "status": run.status}
		}
		return nil
	}))
	mux.HandleFunc("POST /threads/{t}/runs/{r}/cancel", f.answer(func(r *http.Request) any {
		if run := f.runs[r.PathValue("r")]; run != nil && run.status == "running" {
			run.status = "interrupted"
			close(run.stop)
		}
		return map[string]string{}
	}))
	mux.HandleFunc("POST /threads/{t}/runs/stream", f.run)
	mux.HandleFunc("GET /threads/{t}/runs/{r}/stream", f.join)
	f.Server = httptest.NewServer(c.Serve(mux))
	t.Cleanup(f.Close)
	return f
}

// answer answers with JSON; nil is an unknown thing.
func (f *fake) answer(with func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls = append(f.calls, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		if f.hidden && r.Header.Get("Authorization") == "" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		v := with(r)
		if v == nil {
			http.Error(w, "Not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

func (f *fake) run(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Assistant string `json:"assistant_id"`
		Input     *struct {
			Messages []struct {
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		} `json:"input"`
		Command struct {
			Resume json.RawMessage `json:"resume"`
		} `json:"command"`
		Metadata struct {
			Prompt string `json:"tributary_prompt"`
		} `json:"metadata"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	thread := r.PathValue("t")
	f.mu.Lock()
	f.calls = append(f.calls, "run "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	prompt, resumed := f.waits[thread], true
	if body.Input != nil && len(body.Input.Messages) > 0 {
		_ = json.Unmarshal(body.Input.Messages[0].Content, &prompt)
		f.threads[thread] = append(f.threads[thread], prompt)
		f.states[thread] = append(f.states[thread], map[string]any{"type": "human", "id": fmt.Sprint("prompt-", len(f.states[thread])), "content": prompt})
		resumed = false
	}
	delete(f.waits, thread)
	id := fmt.Sprintf("run-%d", len(f.runs)+1)
	run := &fakeRun{id: id, thread: thread, prompt: body.Metadata.Prompt, status: "running", stop: make(chan struct{}), over: make(chan struct{})}
	defer close(run.over)
	f.runs[id] = run
	before := strings.Join(f.threads[thread], "; ")
	f.mu.Unlock()
	var how string
	if words := strings.Fields(prompt); len(words) > 0 {
		how = words[len(words)-1]
	}
	switch {
	case body.Assistant != "agent":
		http.Error(w, `No assistant found for "`+body.Assistant+`".`, http.StatusNotFound)
		return
	case how == "busy":
		http.Error(w, "Thread is already running a task.", http.StatusUnprocessableEntity)
		return
	case how == "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>")
		return
	case how == "moved":
		http.Redirect(w, r, "https://elsewhere.test/", http.StatusFound)
		return
	}
	s := &stream{w: w, run: run, fake: f}
	w.Header().Set("Content-Type", "text/event-stream")
	defer s.end()
	if s.gone = how == "lost"; !s.gone {
		w.WriteHeader(http.StatusOK)
	}
	s.send("metadata", `{"run_id":"`+id+`"}`)
	switch {
	case resumed:
		f.goOn(s, prompt, string(body.Command.Resume))
	case how == "rich":
		s.send("messages", `[{"type":"AIMessageChunk","id":"c","content":[{"type":"reasoning","reasoning":"I think. "}]},{"langgraph_node":"model"}]`)
		s.says("c", "I will touch it. ")
		f.interrupt(s, thread, prompt, "permit")
	case how == "permit", how == "question", how == "inbox", how == "review", how == "js-review":
		f.interrupt(s, thread, prompt, how)
	case how == "slow":
		for i := range 2000 {
			s.says("m", fmt.Sprintf("word%d ", i))
			select {
			case <-run.stop:
				return
			case <-r.Context().Done():
				return
			case <-time.After(30 * time.Millisecond):
			}
		}
	case how == "lost": // the run goes on, and the answer to its request is lost
		s.whole("m", "All the same.")
	case how == "recall":
		s.whole("m", before)
	case how == "garbage":
		_, _ = io.WriteString(w, "event: messages\ndata: {nonsense\n\nno field at all\n\nevent: \x00\ndata: [1,2,3]\n\nevent: messages\ndata: []\n\n: heartbeat\n\n")
		s.whole("m", "Beside the garbage.")
	case how == "huge":
		s.says("m", agenttest.HugeText())
		s.send("messages", last("m", ""))
	case how == "gone": // the run is unknown when its status is asked for
		s.says("m", "So far. ")
		f.mu.Lock()
		delete(f.runs, id)
		f.mu.Unlock()
		return
	case how == "cut":
		s.says("m", "So far, ")
		s.lose("m", "so good.")
		panic(http.ErrAbortHandler)
	case how == "doubled":
		s.says("m", "So far, ")
		s.says("m", "so good.")
		s.frameAgain("2")
		s.lose("m", " Yes.")
		panic(http.ErrAbortHandler)
	case how == "short": // the server ends the stream before its last events
		s.says("m-"+id, "So far, ")
		f.remember(thread,
			map[string]any{"type": "ai", "id": "m-" + id, "content": "So far, so good.", "tool_calls": []any{map[string]any{"id": "call-1", "name": "touch", "args": map[string]string{"path": "x"}}}},
			map[string]any{"type": "tool", "id": "t-" + id, "tool_call_id": "call-1", "status": "success", "content": "touched"},
			map[string]any{"type": "ai", "id": "n-" + id, "content": "It is there."})
	case how == "half":
		_, _ = io.WriteString(w, "event: messages\ndata: [{\"type\":\"AIMessageChunk\",\"id\":\"m\",\"content\":\"Ha")
		f.finish(id, "error")
		return
	case how == "timeout", how == "error":
		s.says("m", "So far. ")
		f.finish(id, how)
		return
	default:
		s.says("m", "Hello ")
		s.whole("m", "Hello there.")
	}
	f.finish(id, "success")
}

// remember adds messages to the state of a thread.
func (f *fake) remember(thread string, messages ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[thread] = append(f.states[thread], messages...)
}

func (f *fake) finish(run, status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[run].status = status
}

// interrupt makes the graph wait for a person.
func (f *fake) interrupt(s *stream, thread, prompt, how string) {
	f.mu.Lock()
	f.waits[thread] = prompt
	f.mu.Unlock()
	if how == "inbox" {
		s.send("updates", `{"__interrupt__":[{"id":"i","value":[{"action_request":{"action":"send","args":{"to":"a"}},"config":{"allow_accept":true,"allow_edit":true,"allow_ignore":true,"allow_respond":true},"description":"Send it?"}]}]}`)
	} else if how == "review" {
		s.send("updates", `{"__interrupt__":[{"id":"i","value":{"action_requests":[{"name":"send","args":{"to":"a"}}],"review_configs":[{"action_name":"send","allowed_decisions":["approve","reject"]}]}}]}`)
	} else if how == "js-review" {
		s.send("updates", `{"__interrupt__":[{"id":"i","value":{"actionRequests":[{"name":"send","args":{"to":"a"}}],"reviewConfigs":[{"actionName":"send","allowedDecisions":["edit","reject"]}]}}]}`)
	} else if how == "question" {
		s.send("updates", `{"__interrupt__":[{"id":"i","value":{"question":"Which colour?","options":["red","blue"]}}]}`)
	} else {
		s.send("updates", `{"model":{"messages":[{"type":"ai","id":"c","content":"","tool_calls":[{"id":"call-1","name":"touch","args":{"path":"x"}}]}]}}`)
		s.send("updates", `{"__interrupt__":[{"id":"i","value":{"action_requests":[{"name":"touch","args":{"path":"x"}}],"review_configs":[{"action_name":"touch","allowed_decisions":["approve","reject"]}]}}]}`)
	}
	f.finish(s.run.id, "success")
}

// goOn goes on with an answer.
func (f *fake) goOn(s *stream, prompt, answer string) {
	switch {
	case strings.HasSuffix(prompt, "question"), strings.HasSuffix(prompt, "inbox"), strings.HasSuffix(prompt, "review"):
		s.whole("after", "You chose "+answer)
	case strings.Contains(answer, "approve"):
		s.send("messages", `[{"type":"tool","id":"t","tool_call_id":"call-1","status":"success","content":"touched"},{}]`)
		s.whole("after", "It is there.")
	default:
		s.send("messages", `[{"type":"tool","id":"t","tool_call_id":"call-1","status":"error","content":"not allowed"},{}]`)
		s.whole("after", "It is not there.")
	}
	f.finish(s.run.id, "success")
}

// join sends what a run said behind an event.
func (f *fake) join(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	run, last := f.runs[r.PathValue("r")], r.Header.Get("Last-Event-ID")
	f.calls = append(f.calls, "join "+last)
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if run == nil {
		_, _ = io.WriteString(w, "event: error\ndata: \"Run not found\"\n\n")
		return
	}
	select {
	case <-run.over:
	case <-r.Context().Done():
	}
	at := 0
	_, _ = fmt.Sscan(last, &at)
	f.mu.Lock()
	frames := run.frames[min(at+1, len(run.frames)):]
	if run.status == "running" {
		run.status = "success"
	}
	f.mu.Unlock()
	_, _ = io.WriteString(w, strings.Join(frames, ""))
}

// stream writes the frames of a run.
type stream struct {
	w    http.ResponseWriter
	run  *fakeRun
	fake *fake
	gone bool // the reader has gone, and the run goes on
}

func (s *stream) end() {
	if s.gone {
		panic(http.ErrAbortHandler)
	}
}

func (s *stream) keep(event, data string) string {
	s.fake.mu.Lock()
	defer s.fake.mu.Unlock()
	frame := fmt.Sprintf("event: %s\ndata: %s\nid: %d\n\n", event, data, len(s.run.frames))
	s.run.frames = append(s.run.frames, frame)
	return frame
}

func (s *stream) send(event, data string) {
	frame := s.keep(event, data)
	if s.gone {
		return
	}
	defer func() { s.gone = recover() != nil }()
	_, _ = io.WriteString(s.w, frame)
	_ = http.NewResponseController(s.w).Flush()
}

// frameAgain makes a join send an event twice, with the same id.
func (s *stream) frameAgain(id string) {
	s.fake.mu.Lock()
	defer s.fake.mu.Unlock()
	for _, frame := range s.run.frames {
		if strings.Contains(frame, "\nid: "+id+"\n") {
			s.run.frames = append(s.run.frames, frame)
			return
		}
	}
}

func chunk(id, text string) string {
	data, _ := json.Marshal([]any{map[string]any{"type": "AIMessageChunk", "id": id, "content": text, "tool_call_chunks": []any{}}, map[string]any{"langgraph_node": "model"}})
	return string(data)
}

func (s *stream) says(id, text string) { s.send("messages", chunk(id, text)) }

// lose is said, and lost on its way.
func (s *stream) lose(id, text string) { s.keep("messages", chunk(id, text)) }

func (s *stream) whole(id, text string) {
	data, _ := json.Marshal(map[string]any{"model": map[string]any{"messages": []any{map[string]any{"type": "ai", "id": id, "content": text}}}})
	first, _ := json.Marshal([]any{map[string]any{"type": "ai", "id": id, "content": text}, map[string]any{"langgraph_node": "model"}})
	s.fake.remember(s.run.thread, map[string]any{"type": "ai", "id": id, "content": text})
	s.send("messages", string(first))
	s.send("updates", string(data))
}
