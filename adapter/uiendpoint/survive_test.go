package uiendpoint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// object is a chunk, or a part.
type object = map[string]any

// everything is one chunk of each type that any release knows, with all of its keys.
func everything(t testing.TB) []string {
	t.Helper()
	return chunksOf(t, "everything")
}

// chunksOf are the chunks of a recording.
func chunksOf(t testing.TB, name string) (chunks []string) {
	t.Helper()
	for line := range strings.Lines(string(read(t, "../../test/recordings/uiendpoint/"+name+".sse"))) {
		if chunk, ok := strings.CutPrefix(strings.TrimSpace(line), "data: {"); ok {
			chunks = append(chunks, "{"+chunk)
		}
	}
	return chunks
}

// body is the body of a response.
func body(chunks ...string) string {
	return "data: " + strings.Join(append(chunks, "[DONE]"), "\n\ndata: ") + "\n\n"
}

// records is the trace of a response.
func records(t testing.TB, body string) (all []trace.Record) {
	t.Helper()
	_, err := replay.Run(t.Context(), uiendpoint.NewDecoder(toolkind.Table{}), strings.NewReader(body), func(r trace.Record) error {
		all = append(all, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// recorded are the records of one turn.
func recorded(events []trace.Event) (all []trace.Record) {
	for i, e := range events {
		all = append(all, trace.Record{Turn: "t", Seq: uint64(i + 1), Event: e})
	}
	return all
}

// streamed are the chunks of a trace for a client.
func streamed(t testing.TB, all []trace.Record, client string) (chunks []object) {
	t.Helper()
	profile, err := uistream.ParseProfile(client)
	if err != nil {
		t.Fatal(err)
	}
	tr := uistream.NewTranslator(uistream.Options{Profile: profile})
	for _, r := range all {
		for _, c := range tr.Translate(r) {
			frame := uistream.AppendChunk(nil, c)
			if err := profile.Check(frame); err != nil {
				t.Errorf("client %q: %v", client, err)
			}
			chunks = append(chunks, withoutFacts(parsed(t, string(frame))))
		}
	}
	return chunks
}

// withoutFacts removes the facts of the gateway about a call from a chunk.
func withoutFacts(chunk object) object {
	if meta, is := chunk["providerMetadata"].(object); is && meta["tributary"] != nil {
		if delete(meta, "tributary"); len(meta) == 0 {
			delete(chunk, "providerMetadata")
		}
	}
	return chunk
}

func parsed(t testing.TB, text string) (o object) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// covers reports whether a chunk has each key of another, but for ids of parts, which are
// the gateway's own.
func covers(got, want object) bool {
	for key, value := range want {
		if key == "id" && !strings.HasPrefix(fmt.Sprint(want["type"]), "data-") && want["type"] != "steering-message" {
			continue
		}
		if fmt.Sprint(got[key]) != fmt.Sprint(value) {
			return false
		}
	}
	return true
}

func TestK18_EveryChunkOfEveryMajorSurvives(t *testing.T) {
	t.Parallel()
	all := records(t, body(everything(t)...))
	got := streamed(t, all, "7.0.173")
	for _, c := range everything(t) {
		want := parsed(t, c)
		switch want["type"] {
		case "start", "finish": // the metadata comes in a chunk of its own
			want = object{"type": "message-metadata", "messageMetadata": want["messageMetadata"]}
		case "text-delta", "reasoning-delta": // further keys come with the end of the part
			delete(want, "providerMetadata")
		case "reasoning-start", "text-start": // those of a part without words, too
			if want["id"] == "silent" {
				want["type"] = strings.Replace(want["type"].(string), "start", "end", 1)
			}
			if want["providerMetadata"] == nil {
				continue
			}
		case "tool-input-delta": // pieces are joined
			continue
		}
		if !slices.ContainsFunc(got, func(o object) bool { return covers(o, want) }) {
			t.Errorf("lost: %s", c)
		}
	}
	if last := got[len(got)-1]; last["finishReason"] != "length" {
		t.Errorf("the last chunk is %v", last)
	}
	if t.Failed() {
		for _, o := range got {
			line, _ := json.Marshal(o)
			t.Log(string(line))
		}
	}
}

// The table of chunk types is the checklist: everything.sse holds each of them.
func TestEverythingHoldsEachTypeAndKeyOfTheTable(t *testing.T) {
	t.Parallel()
	held := map[string]bool{}
	for _, c := range slices.Concat(everything(t), chunksOf(t, "abort"), chunksOf(t, "ai7-error")) { // two of them end a turn
		o := parsed(t, c)
		typ := fmt.Sprint(o["type"])
		if strings.HasPrefix(typ, "data-") {
			typ = "data-"
		}
		for key := range o {
			held[typ+" "+key] = true
		}
	}
	for _, want := range uistream.Table() {
		if !held[want] {
			t.Errorf("everything.sse lacks %s", want)
		}
	}
}

func TestNewerChunksAreSafeForOlderClients(t *testing.T) {
	t.Parallel()
	all := records(t, body(everything(t)...))
	for _, client := range []string{"", "5", "5.0.277", "6.0.0", "6.0.323", "7", "7.0.173"} {
		got := streamed(t, all, client) // it checks each chunk
		for _, typ := range []string{"custom", "reasoning-file", "steering-message"} {
			shown := slices.ContainsFunc(got, func(o object) bool { return o["type"] == typ || o["type"] == "data-"+typ })
			if !shown {
				t.Errorf("client %q is not shown the %s", client, typ)
			}
		}
	}
}

// history is the conversation as the endpoint gets it back.
func history(t testing.TB, all []trace.Record) []object {
	t.Helper()
	messages, err := uistream.History(func(yield func(trace.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}, uistream.Options{Profile: uistream.Newest(), Native: true})
	if err != nil {
		t.Fatal(err)
	}
	var back []object
	for _, m := range messages {
		back = append(back, parsed(t, string(m.AppendJSON(nil))))
	}
	return back
}

func TestTheEndpointGetsItsOwnMessageBack(t *testing.T) {
	t.Parallel()
	back := history(t, records(t, body(everything(t)...)))
	if len(back) != 1 || back[0]["id"] != "theirs" {
		t.Fatalf("got %v", back)
	}
	if got := fmt.Sprint(back[0]["metadata"]); got != "map[deep:map[a:1 b:2] model:m tokens:3]" {
		t.Errorf("the metadata is %s", got)
	}
	var types []string
	for _, p := range back[0]["parts"].([]any) {
		types = append(types, fmt.Sprint(p.(object)["type"]))
	}
	want := "step-start reasoning text reasoning text tool-weather dynamic-tool tool-search tool-weather tool-pay dynamic-tool dynamic-tool dynamic-tool tool-pay source-url source-document file reasoning-file custom data-weather data-note steering-message step-start text"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("the parts are\n%s, want\n%s", got, want)
	}
	parts := back[0]["parts"].([]any)
	for at, want := range map[int]string{
		1:  `{"type":"reasoning","text":"hm","state":"done","providerMetadata":{"acme":{"n":4}}}`,
		2:  `{"type":"text","text":"Hello","state":"done","providerMetadata":{"acme":{"n":8}},"citations":[{"u":1}]}`,
		3:  `{"type":"reasoning","text":"","providerMetadata":{"acme":{"n":9}}}`,
		4:  `{"type":"text","text":"","providerMetadata":{"acme":{"n":12}}}`,
		5:  `{"state":"output-available","input":{"city":"Paris"},"output":{"sun":1.5},"title":"Weather","callProviderMetadata":{"acme":{"n":16}},"resultProviderMetadata":{"acme":{"n":18}},"toolMetadata":{"x":3}}`,
		6:  `{"toolName":"mcp","state":"output-error","errorText":"no"}`,
		7:  `{"state":"output-available","providerExecuted":true}`,
		8:  `{"state":"output-error","input":"{bad","errorText":"not JSON"}`,
		9:  `{"state":"output-available","approval":{"id":"auto","isAutomatic":true,"requestReason":"policy","signature":"s","approved":true,"reason":"ok"}}`,
		10: `{"state":"output-available","providerExecuted":true,"output":"six"}`,
		12: `{"state":"output-error","errorText":"eight"}`,
		13: `{"state":"output-denied","approval":{"id":"auto-9","isAutomatic":true,"descriptor":{"d":1},"inputSchemaInput":{"i":1},"approved":false,"reason":"policy"}}`,
		23: `{"text":"right"}`,
	} {
		if !covers(parts[at].(object), parsed(t, want)) {
			t.Errorf("part %d is %v, want %s", at, parts[at], want)
		}
	}
	if _, marked := parts[5].(object)["providerExecuted"]; marked {
		t.Error("a tool of the endpoint's own came back as the provider's")
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
