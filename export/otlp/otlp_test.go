package otlp_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/otlptest"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// export makes the requests of all turns of a session, and checks each with the official messages.
func export(t fataler, records []trace.Record, o otlp.Options) (all []otlp.Request) {
	for turn, err := range reader.Turns(exporttest.Durable(records)(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		requests, err := otlp.Turn(turn, o)
		if err != nil {
			t.Fatal(err)
		}
		check(t, requests)
		all = append(all, requests...)
	}
	return all
}

// check decodes both encodings, which are the same spans, and looks at each span.
func check(t fataler, requests []otlp.Request) {
	for _, r := range requests {
		text, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		binary, err := r.Proto()
		if err != nil {
			t.Fatal(err)
		}
		fromJSON, err := otlptest.Decode(text, true)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		fromProto, err := otlptest.Decode(binary, false)
		if err != nil || !proto.Equal(fromJSON, fromProto) {
			t.Fatalf("the encodings differ: %v\n%s\n%s", err, protojson.Format(fromJSON), protojson.Format(fromProto))
		}
		ids := map[string]bool{}
		for _, rs := range fromProto.GetResourceSpans() {
			if len(rs.GetResource().GetAttributes()) == 0 || len(rs.GetScopeSpans()) != 1 || len(rs.GetScopeSpans()[0].GetSpans()) != len(r.Spans) {
				t.Fatalf("%v", rs)
			}
			for _, s := range rs.GetScopeSpans()[0].GetSpans() {
				if len(s.GetTraceId()) != 16 || len(s.GetSpanId()) != 8 || ids[string(s.GetSpanId())] || s.GetStartTimeUnixNano() > s.GetEndTimeUnixNano() || s.GetName() == "" || s.GetKind() == 0 {
					t.Fatalf("%v", s)
				}
				ids[string(s.GetSpanId())] = true
				session := false
				for _, a := range s.GetAttributes() {
					session = session || a.GetKey() == "session.id" && a.GetValue().GetStringValue() != ""
					if s.GetName() == "permission" && strings.Contains(a.GetKey(), "tool") {
						t.Fatalf("%s on a permission", a.GetKey())
					}
				}
				if !session {
					t.Fatalf("no session on %v", s)
				}
			}
		}
	}
}

func attr(s *tracepb.Span, key string) any { return attrIn(s.GetAttributes(), key) }

func attrIn(all []*commonpb.KeyValue, key string) any {
	for _, a := range all {
		if a.GetKey() == key {
			return otlptest.Value(a.GetValue())
		}
	}
	return nil
}

func keyValue(key, text string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: text}}}
}

// named are the spans with a name.
func named(all []otlp.Request, name string) (spans []*tracepb.Span) {
	for _, r := range all {
		for _, s := range r.Spans {
			if s.Name == name || strings.HasPrefix(s.Name, name+" ") {
				spans = append(spans, s)
			}
		}
	}
	return spans
}

func TestEveryRecordingBecomesSpans(t *testing.T) {
	t.Parallel()
	for path, records := range exporttest.Recorded(t, "../../adapter") {
		all := export(t, records, otlp.Options{})
		calls, turns := map[string]bool{}, 0
		for _, r := range records {
			switch p := r.Payload.(type) {
			case trace.ToolCall:
				if p.Continues == "" {
					calls[r.Turn+" "+p.ToolCallID] = true
				}
			case trace.Stop:
				turns++
			}
		}
		if tools := named(all, "execute_tool"); len(tools) != len(calls) {
			t.Errorf("%s: %d tools of %d calls", path, len(tools), len(calls))
		}
		roots, parents := 0, map[string]bool{}
		for _, r := range all {
			for _, s := range r.Spans {
				parents[string(s.GetSpanId())] = true
				if s.GetParentSpanId() == nil {
					roots++
				}
			}
		}
		if roots != turns {
			t.Errorf("%s: %d roots of %d turns", path, roots, turns)
		}
		for _, r := range all {
			for _, s := range r.Spans {
				if s.GetParentSpanId() != nil && !parents[string(s.GetParentSpanId())] {
					t.Errorf("%s: the parent of %s is missing", path, s.Name)
				}
			}
		}
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, records := range exporttest.Each(t, "../testdata") {
		var b bytes.Buffer
		for _, r := range export(t, records, otlp.Options{Version: "1.0"}) {
			text, err := r.JSON()
			if err == nil {
				err = json.Indent(&b, text, "", " ")
			}
			if err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
		}
		replaytest.Golden(t, "testdata/"+name+".json", b.Bytes())
	}
}

func TestWhateverABuilderWritesBecomesSpans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		records := exporttest.Random(rt)
		o := otlp.Options{Filter: redact.Filter{NoDenied: rapid.Bool().Draw(rt, "no denied"), NoSubagents: rapid.Bool().Draw(rt, "no subagents")}}
		a, b := export(rt, records, o), export(rt, records, o)
		for i := range a {
			one, _ := a[i].Proto()
			if again, err := b[i].Proto(); err != nil || !bytes.Equal(one, again) {
				rt.Fatal("the same turn gives other bytes")
			}
		}
	})
}

func TestNothingOfAPersonIsLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		records := exporttest.Random(rt)
		var b bytes.Buffer
		for _, r := range export(rt, records, otlp.Options{Filter: redact.Filter{Drop: redact.Classes()}}) {
			text, err := r.JSON()
			if err != nil {
				rt.Fatal(err)
			}
			b.Write(text)
		}
		// Messages are JSON in JSON.
		exporttest.Silent(rt, records, b.String()+strings.ReplaceAll(b.String(), `\"`, `"`))
	})
}

func done() trace.Stop {
	return trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted, FinalOutput: "I have read it."}
}

// busy is a session with a turn in which everything happens.
func busy(t *testing.T, change func(*trace.Prompt)) []trace.Record {
	t.Helper()
	s := exporttest.NewSession()
	s.Add("", trace.Event{Actor: trace.Agent, Payload: trace.AgentInfo{Name: "fixer", Product: "claude-code", Version: "2.1", Provider: "anthropic", Tools: []trace.ToolDefinition{{Name: "Bash"}}}.Payload()})
	cost := 0.25
	s.Turn(t.Context(), "read it", done(), func(b *trace.Builder) {
		b.StepStart(trace.Step{Name: "node"})
		b.Message("m", "I will read.")
		b.Emit(trace.ToolCall{ToolCallID: "task", RawName: "Task", Input: json.RawMessage(`{"subagent_type":"scout"}`)})
		b.Under("task").Message("n", "I look around")
		b.Emit(trace.ToolResult{ToolCallID: "task", Status: trace.ToolCompleted, Output: json.RawMessage(`"seen"`)})
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 100, OutputTokens: 10, CacheReadTokens: 60, Model: "opus"})
		b.StepFinish("tool_use")
		b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Bash", ToolKind: trace.ToolExecute, Title: "Run ls", Input: json.RawMessage(`{"command":"ls"}`)})
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run ls", Options: []trace.PermissionOption{{ID: "no", Name: "No", OptionKind: trace.RejectOnce}}}, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "no", By: "ann", Rule: "rules[1]"})
		b.Denied("c", "not this")
		b.StepEnd()
		b.StepStart(trace.Step{})
		b.Message("o", "I have read it.")
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: 120, OutputTokens: 12, Model: "opus"})
		b.Emit(trace.Notice("retry", "I try again"))
		b.Emit(trace.Usage{Scope: trace.UsageTurn, InputTokens: 220, OutputTokens: 22, CostUSD: &cost, ContextSize: 1000, ContextUsed: 300})
	})
	for i, r := range s.Records {
		if p, is := r.Payload.(trace.Prompt); is && change != nil {
			change(&p)
			s.Records[i].Payload = p
		}
	}
	return s.Records
}

func TestATurn(t *testing.T) {
	t.Parallel()
	all := export(t, busy(t, nil), otlp.Options{})
	root := named(all, "invoke_agent fixer")
	chats, tools := named(all, "chat"), named(all, "execute_tool")
	sub := named(all, "invoke_agent scout")
	permission := named(all, "permission")
	if len(root) != 1 || len(chats) != 3 || len(tools) != 2 || len(sub) != 1 || len(permission) != 1 {
		t.Fatalf("%d roots, %d chats, %d tools, %d sub-agents, %d permissions", len(root), len(chats), len(tools), len(sub), len(permission))
	}
	for _, want := range []struct {
		span  *tracepb.Span
		key   string
		value any
	}{
		{root[0], "gen_ai.operation.name", "invoke_agent"},
		{root[0], "gen_ai.provider.name", "anthropic"},
		{root[0], "gen_ai.agent.version", "2.1"},
		{root[0], "input.value", "read it"},
		{root[0], "output.value", "I have read it."},
		{root[0], "user.id", "ann"},
		{root[0], "gen_ai.usage.input_tokens", nil},
		{chats[0], "gen_ai.request.model", "opus"},
		{chats[0], "gen_ai.usage.input_tokens", int64(100)},
		{chats[0], "gen_ai.usage.cache_read.input_tokens", int64(60)},
		{chats[0], "gen_ai.usage.cost", 0.0},
		{chats[0], "gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"read it"}]}]`},
		{chats[1], "gen_ai.usage.cost", 0.25},
		{chats[1], "mlflow.llm.cost", `{"total_cost":0.25}`},
		{chats[1], "tributary.context.used", int64(300)},
		{chats[1], "gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"I have read it."}],"finish_reason":"stop"}]`},
		{chats[2], "tributary.step", "derived"},
		{tools[1], "error.type", "permission_denied"},
		{tools[1], "langfuse.observation.level", "WARNING"},
		{tools[1], "tributary.tool.kind", "execute"},
		{tools[0], "gen_ai.tool.call.result", "seen"},
		{tools[0], "error.type", nil},
		{permission[0], "tributary.permission.by", "ann"},
		{permission[0], "tributary.permission.rule", "rules[1]"},
		{permission[0], "tributary.permission.option_kind", "reject_once"},
		{permission[0], "langfuse.observation.type", "guardrail"},
	} {
		if got := attr(want.span, want.key); got != want.value {
			t.Errorf("%s of %s: %v, want %v", want.key, want.span.GetName(), got, want.value)
		}
	}
	if got := fmt.Sprint(attr(chats[0], "gen_ai.response.finish_reasons")); got != "[tool_use]" {
		t.Error(got)
	}
	if in := fmt.Sprint(attr(chats[1], "gen_ai.input.messages")); !strings.Contains(in, `"response":"seen"`) || strings.Contains(in, "read it") {
		t.Errorf("what is new in the second call: %s", in)
	}
	if tools[1].GetStatus() == nil || tools[0].GetStatus() != nil || !bytes.Equal(tools[0].GetParentSpanId(), root[0].GetSpanId()) || !bytes.Equal(sub[0].GetParentSpanId(), tools[0].GetSpanId()) ||
		!bytes.Equal(chats[2].GetParentSpanId(), sub[0].GetSpanId()) || !bytes.Equal(permission[0].GetLinks()[0].GetSpanId(), tools[1].GetSpanId()) {
		t.Error("the tree is another")
	}
	if len(root[0].GetEvents()) != 1 || root[0].GetEvents()[0].GetName() != "notice" {
		t.Errorf("%+v", root[0].GetEvents())
	}
	if last := all[len(all)-1].Spans; !bytes.Equal(last[len(last)-1].GetSpanId(), root[0].GetSpanId()) {
		t.Error("the root is not the last span")
	}
	if spans := export(t, busy(t, nil), otlp.Options{Filter: redact.Filter{NoDenied: true, NoSubagents: true}})[0].Spans; len(spans) != 5 {
		t.Errorf("without refused calls and sub-agents: %d spans", len(spans))
	}
}

// The turn is a part of the caller's trace, if the caller has given a valid place in it.
func TestTheCallersTrace(t *testing.T) {
	t.Parallel()
	for header, own := range map[string]bool{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":       false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":       true,
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":       true,
		"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":       true,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more":  true,
		"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later": false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz":       true,
		"nonsense": true, "": true,
	} {
		all := export(t, busy(t, func(p *trace.Prompt) { p.Traceparent = header }), otlp.Options{})
		root := named(all, "invoke_agent fixer")[0]
		if got := root.GetParentSpanId() == nil && hex.EncodeToString(root.GetTraceId()) != "0af7651916cd43dd8448eb211c80319c"; got != own {
			t.Errorf("%q: %x under %x", header, root.GetTraceId(), root.GetParentSpanId())
		}
	}
}

// A permission says what a person changed, and of which call it was if the call began in another turn.
func TestWhatAPermissionChanged(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	call := trace.ToolCall{ToolCallID: "c", RawName: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}
	call.Continues = s.Turn(t.Context(), "go", done(), func(b *trace.Builder) { b.Emit(call) })
	s.Turn(t.Context(), "on", done(), func(b *trace.Builder) {
		b.Emit(call)
		id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: []trace.PermissionOption{{ID: "yes", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "yes", UpdatedInput: json.RawMessage(`{"command":"pwd"}`)})
	})
	p := named(export(t, s.Records, otlp.Options{}), "permission")[0]
	if attr(p, "tributary.permission.updated_input") != `{"command":"pwd"}` || attr(p, "tributary.permission.call") != "c" || attr(p, "tributary.permission.continues") != call.Continues {
		t.Errorf("%+v", p.GetAttributes())
	}
	p = named(export(t, s.Records, otlp.Options{Filter: redact.Filter{Drop: []redact.Class{redact.Prompt}}}), "permission")[0]
	if attr(p, "tributary.permission.updated_input") != nil {
		t.Errorf("%+v", p.GetAttributes())
	}
}

func TestAFailedTurn(t *testing.T) {
	t.Parallel()
	for class, want := range map[trace.Class]string{trace.ClassOverloaded: "overloaded", "": "api_error"} {
		s := exporttest.NewSession()
		s.Turn(t.Context(), "x", trace.Stop{Reason: "api_error", Outcome: trace.OutcomeFailed, Class: class, Error: "it is busy"}, func(b *trace.Builder) { b.Message("m", "x") })
		root := named(export(t, s.Records, otlp.Options{}), "invoke_agent")[0]
		if root.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR || root.GetStatus().GetMessage() != "it is busy" || attr(root, "error.type") != want {
			t.Errorf("%+v", root)
		}
	}
}

// A turn of many spans is several requests, and what is too long for an attribute is cut.
func TestSizes(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	long := strings.Repeat("é", 1<<20)
	s.Turn(t.Context(), strings.Repeat("z", 1200)+long, done(), func(b *trace.Builder) {
		for i := range 1100 {
			id := fmt.Sprint("c", i)
			b.Emit(trace.ToolCall{ToolCallID: id, RawName: "Read", Input: json.RawMessage(`{}`)})
			b.Emit(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: json.RawMessage(`"` + long[:1<<10] + `"`)})
		}
		b.Message("m", long)
	})
	all := export(t, s.Records, otlp.Options{})
	spans := 0
	for _, r := range all {
		spans += len(r.Spans)
		binary, _ := r.Proto()
		if size := len(binary); len(r.Spans) > 500 || size > 9<<20 {
			t.Errorf("a request of %d spans and %d bytes", len(r.Spans), size)
		}
		for _, s := range r.Spans {
			for _, a := range s.GetAttributes() {
				text, is := otlptest.Value(a.GetValue()).(string)
				if is && len(text) > 1<<20+200 {
					t.Errorf("%s of %s has %d bytes", a.GetKey(), s.GetName(), len(text))
				}
				if is && strings.HasSuffix(a.GetKey(), ".messages") && !json.Valid([]byte(text)) {
					t.Errorf("%s of %s is no JSON: %.100s", a.GetKey(), s.GetName(), text)
				}
			}
		}
	}
	if len(all) < 3 || spans != 1100+1+1 {
		t.Errorf("%d requests with %d spans", len(all), spans)
	}
	root := named(all, "invoke_agent")[0]
	if in := fmt.Sprint(attr(root, "input.value")); !strings.Contains(in, "sha256:") {
		t.Errorf("%.100s", in)
	}
}

// Receivers take a session's id only as 200 characters of ASCII.
func TestLongSessions(t *testing.T) {
	t.Parallel()
	for id, same := range map[string]bool{"s-1": true, "Sitzung ä": false, strings.Repeat("s", 201): false} {
		records := busy(t, nil)
		for i := range records {
			records[i].Session = id
		}
		got := fmt.Sprint(attr(export(t, records, otlp.Options{})[0].Spans[0], "session.id"))
		if same != (got == id) || len(got) > 200 {
			t.Errorf("%q: %q", id, got)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	records := busy(t, nil)
	var text, binary bytes.Buffer
	n, err := otlp.Write(&text, exporttest.Durable(records), otlp.Options{})
	if err != nil || n != 1 || strings.Count(text.String(), "\n") != 1 {
		t.Errorf("%d turns, %v: %s", n, err, text.String())
	}
	if _, err := otlp.Write(&binary, exporttest.Durable(slices.Concat(records, records)), otlp.Options{Proto: true}); err != nil {
		t.Fatal(err)
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(binary.Bytes(), &data); err != nil || len(data.GetResourceSpans()) != 2 {
		t.Errorf("%v %d", err, len(data.GetResourceSpans()))
	}
	for i := range records {
		records[i].Time = time.UnixMilli(int64(i))
	}
	if _, err := otlp.Write(&text, exporttest.Durable(records), otlp.Options{}); err == nil || !strings.Contains(err.Error(), "--at") {
		t.Errorf("a recording of 1970: %v", err)
	}
}

// Validate knows what receivers refuse.
func TestValidate(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*tracepb.Span){
		"no id":           func(s *tracepb.Span) { s.SpanId = nil },
		"no trace":        func(s *tracepb.Span) { s.TraceId = nil },
		"start after end": func(s *tracepb.Span) { s.StartTimeUnixNano = s.GetEndTimeUnixNano() + 1 },
		"no name":         func(s *tracepb.Span) { s.Name = "" },
		"no session":      func(s *tracepb.Span) { s.Attributes = nil },
		"tool": func(s *tracepb.Span) {
			s.Name, s.Attributes = "permission", append(s.GetAttributes(), keyValue("tributary.tool.kind", "x"))
		},
	} {
		r := export(t, busy(t, nil), otlp.Options{})[0]
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		spoil(r.Spans[0])
		if r.Validate() == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
