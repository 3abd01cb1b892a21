package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
)

// The verifier must notice a gateway that lost or doubled something. So the tests spoil each line of
// a good gateway's data in turn.
const (
	goodTrace = `{"turn":"t1","seq":1,"id":"t1.1","type":"prompt","payload":{"message":{"id":"u1"}}}
{"turn":"t1","seq":2,"id":"t1.2","type":"reply","payload":{"message_id":"m1"}}
{"turn":"t1","seq":3,"id":"t1.3","type":"message","payload":{"text":"one two"}}
{"turn":"t1","seq":4,"id":"t1.4","type":"tool_result","payload":{"tool_call_id":"c1","output":"out"}}
{"turn":"t1","seq":5,"id":"t1.5","type":"message","parent_id":"t1.9","payload":{"text":"aside"}}
{"turn":"t1","seq":6,"id":"t1.6","type":"stop","payload":{}}
`
	goodHistory = `[{"id":"u1"},{"id":"m1","parts":[{"type":"text","text":"one two"},{"type":"dynamic-tool","toolCallId":"c1","output":"out"}]}]`
	queue       = `{"queue":[{"turn":"held","held":true},{"turn":"waits"}]}`
	heldPrompt  = `{"turn":"held","seq":7,"id":"held.1","type":"prompt","payload":{"message":{"id":"u2"}}}` + "\n"
	goodReplay  = ": stream-open\n\nevent: start\nid: B-2\ndata: {\"type\":\"start\",\"messageId\":\"m1\"}\n\n" +
		"data: {\"type\":\"text-delta\",\"delta\":\"one \"}\n\ndata: {\"type\":\"text-delta\",\"delta\":\"two\"}\n\n" +
		"id: B-4\ndata: {\"type\":\"tool-output-available\",\"toolCallId\":\"c1\",\"output\":\"out\"}\n\n" + done
)

func observationOf(replay string) *observation {
	raw := strings.ReplaceAll(replay, "id: B-", "id: A-")
	return &observation{session: "s", prompt: "u1", acked: true, raw: []byte(raw), complete: strings.HasSuffix(raw, done)}
}

func compareWith(t *testing.T, trace, history, replay string, s *observation) counts {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := map[bool]string{strings.HasSuffix(r.URL.Path, "/queue"): queue, strings.HasSuffix(r.URL.Path, "/trace"): trace, strings.HasSuffix(r.URL.Path, "/messages"): history, strings.HasSuffix(r.URL.Path, "/stream"): replay}[true]
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	var c results
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{Server: &launch.Server{Address: address}, client: server.Client()}
	if _, err := newVerifier("s").compare(context.Background(), g, &c, 0, []*observation{s}); err != nil {
		t.Fatal(err)
	}
	return c.row("", 0).counts
}

func TestASessionMayBeMissingUntilAClientIsTold(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{Server: &launch.Server{Address: address}, client: server.Client()}
	for _, test := range []struct {
		name    string
		seen    observation
		missing bool
	}{
		{"a prompt without an answer", observation{prompt: "u1"}, false},
		{"a resume of which only the comment has come", observation{acked: true, raw: []byte(": stream-open\n\n")}, false},
		{"a prompt with the status 200", observation{prompt: "u1", acked: true}, true},
		{"a resume that has a chunk", observation{acked: true, raw: []byte(goodReplay)}, true},
	} {
		if _, err := newVerifier("s").compare(t.Context(), g, &results{}, 0, []*observation{&test.seen}); (err != nil) != test.missing {
			t.Errorf("%s: got the error %v, want one: %t", test.name, err, test.missing)
		}
	}
}

func TestAVerifierAgreesWithACorrectGateway(t *testing.T) {
	t.Parallel()
	for cut := 1; cut <= len(goodReplay); cut++ { // wherever the connection broke
		s := observationOf(goodReplay[:cut])
		if c := compareWith(t, goodTrace, goodHistory, goodReplay, s); c != (counts{}) {
			t.Fatalf("cut after %d bytes: %+v", cut, c)
		}
	}
}

// A prompt that waited when its gateway died has no stop yet.
func TestAHeldPromptNeedsNoStop(t *testing.T) {
	t.Parallel()
	if c := compareWith(t, goodTrace+heldPrompt, goodHistory, goodReplay, observationOf(goodReplay)); c != (counts{}) {
		t.Errorf("%+v", c)
	}
}

func TestAVerifierFindsEachFault(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(goodTrace, "\n")
	without := func(i int) string { return strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "") }
	other := func(s, old, now string) string { return strings.Replace(s, old, now, 1) }
	for name, c := range map[string]struct {
		trace, history, replay string
		want                   func(counts) bool
	}{
		"no prompt":              {without(0), goodHistory, goodReplay, func(c counts) bool { return c.lost > 0 }},
		"no reply":               {without(1), goodHistory, goodReplay, func(c counts) bool { return c.lost > 0 }},
		"no text":                {without(2), goodHistory, goodReplay, func(c counts) bool { return c.lost > 0 }},
		"no output":              {without(3), goodHistory, goodReplay, func(c counts) bool { return c.lost > 0 }},
		"no stop":                {without(5), goodHistory, goodReplay, func(c counts) bool { return c.failed > 0 }},
		"no stop, and not held":  {goodTrace + strings.ReplaceAll(heldPrompt, "held", "waits"), goodHistory, goodReplay, func(c counts) bool { return c.failed > 0 }},
		"a record twice":         {goodTrace + lines[5], goodHistory, goodReplay, func(c counts) bool { return c.doubled > 0 }},
		"two stops":              {goodTrace + other(other(lines[5], "t1.6", "t1.7"), `"seq":6`, `"seq":7`), goodHistory, goodReplay, func(c counts) bool { return c.doubled > 0 }},
		"a number again":         {other(goodTrace, `"seq":3`, `"seq":2`), goodHistory, goodReplay, func(c counts) bool { return c.doubled > 0 }},
		"a prompt in two turns":  {goodTrace + `{"turn":"t2","seq":8,"id":"t2.1","type":"prompt","payload":{"message":{"id":"u1"}}}` + "\n" + `{"turn":"t2","seq":9,"id":"t2.2","type":"stop"}` + "\n", goodHistory, goodReplay, func(c counts) bool { return c.doubled > 0 }},
		"no prompt in history":   {goodTrace, other(goodHistory, `{"id":"u1"},`, ""), goodReplay, func(c counts) bool { return c.lost > 0 }},
		"an answer twice":        {goodTrace, other(goodHistory, `{"id":"u1"}`, `{"id":"u1"},{"id":"m1"}`), goodReplay, func(c counts) bool { return c.doubled > 0 }},
		"less text in history":   {goodTrace, other(goodHistory, "one two", "one"), goodReplay, func(c counts) bool { return c.lost > 0 }},
		"no output in history":   {goodTrace, other(goodHistory, `"out"`, `"no"`), goodReplay, func(c counts) bool { return c.lost > 0 }},
		"other bytes in replay":  {goodTrace, goodHistory, other(goodReplay, "two", "too"), func(c counts) bool { return c.contradicted > 0 }},
		"more in replay":         {goodTrace, goodHistory, other(goodReplay, done, "data: {}\n\n"+done), func(c counts) bool { return c.contradicted > 0 }},
		"no end of the replay":   {goodTrace, goodHistory, other(goodReplay, done, ""), func(c counts) bool { return c.lost > 0 }},
		"a replay of nothing at": {goodTrace, goodHistory, done, func(c counts) bool { return c.contradicted > 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := compareWith(t, c.trace, c.history, c.replay, observationOf(goodReplay)); !c.want(got) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// After a crash only the end of an open part may be missing.
func TestAfterACrashOnlyTheEndOfAnOpenPartMayBeMissing(t *testing.T) {
	t.Parallel()
	const (
		start  = "data: {\"type\":\"start\",\"messageId\":\"m1\"}\n\n"
		opened = "data: {\"type\":\"text-start\",\"id\":\"p\"}\n\n"
		one    = "data: {\"type\":\"text-delta\",\"id\":\"p\",\"delta\":\"one \"}\n\n"
		two    = "data: {\"type\":\"text-delta\",\"id\":\"p\",\"delta\":\"two \"}\n\n"
		both   = "data: {\"type\":\"text-delta\",\"id\":\"p\",\"delta\":\"one two \"}\n\n"
		closed = "data: {\"type\":\"text-end\",\"id\":\"p\"}\n\n"
	)
	for name, c := range map[string]struct {
		seen, is string
		whole    bool
		missing  int
		fault    string
	}{
		"the same":              {start + opened + one, start + opened + one + closed + done, false, -1, ""},
		"other deltas":          {start + opened + one + two, start + opened + both + closed + done, false, -1, ""},
		"the last words":        {start + opened + one + two, start + opened + one + closed + done, false, len(start + opened + one), ""},
		"all words":             {start + opened + one, start + opened + closed + done, false, len(start + opened), ""},
		"half a frame was seen": {start + opened + one + two[:20], start + opened + one + closed + done, false, -1, ""},
		"of a finished part":    {start + opened + one + two + closed, start + opened + one + closed + done, false, -1, "missing"},
		"other words":           {start + opened + one, start + opened + two + closed + done, false, -1, "contradicts"},
		"no part":               {start + opened + one, start + done, false, -1, "contradicts"},
		"of a whole stream":     {start + opened + both + closed + done, start + opened + one + closed + done, true, -1, "missing"},
	} {
		first, fault := transcriptOf([]byte(c.seen)).within(transcriptOf([]byte(c.is)), c.whole)
		if first != c.missing || kind(fault) != c.fault {
			t.Errorf("%s: the first missing delta is at %d, want %d; %q, want %q", name, first, c.missing, fault.what, c.fault)
		}
	}
	now := time.Now()
	s := &observation{arrivals: []arrival{{10, now.Add(-time.Second)}, {20, now.Add(-100 * time.Millisecond)}}, ended: now}
	if s.before(9) != time.Second || s.before(10) != 100*time.Millisecond {
		t.Errorf("a gap of %s and one of %s", s.before(9), s.before(10))
	}
	s.raw = make([]byte, 20)
	if early := s.until(now.Add(-time.Millisecond * 500)); len(early.raw) != 10 || early.before(9) != 500*time.Millisecond || early.complete {
		t.Errorf("half a second earlier the client had %d bytes", len(early.raw))
	}
}

// Text that a crash removed from an open part counts as late if it is too old, and never as lost.
func TestTextThatACrashRemovedIsLateAndNotLost(t *testing.T) {
	t.Parallel()
	const cut = `data: {"type":"text-delta","delta":"two"}`
	shown, _, _ := strings.Cut(goodReplay, "id: B-4")
	kept, _, _ := strings.Cut(goodReplay, cut)
	now := time.Now()
	for name, c := range map[string]struct {
		age  time.Duration
		want counts
	}{
		"young": {lossLimit - time.Millisecond, counts{gap: lossLimit - time.Millisecond}},
		"old":   {lossLimit + time.Millisecond, counts{late: 1, gap: lossLimit + time.Millisecond}},
	} {
		s := &observation{session: "s", prompt: "u1", acked: true, raw: []byte(shown), ended: now, arrivals: []arrival{{len(kept), now.Add(-time.Second)}, {len(shown), now.Add(-c.age)}}}
		if got := compareWith(t, goodTrace, goodHistory, kept+done, s); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func kind(f flaw) string {
	switch {
	case f.what == "":
		return ""
	case f.contradicts:
		return "contradicts"
	default:
		return "missing"
	}
}

func TestLeaksAreCounted(t *testing.T) {
	t.Parallel()
	before := footprint{goroutines: 50, files: 30, heap: 10 * mega}
	for name, c := range map[string]struct {
		after footprint
		want  int
	}{
		"the same":      {before, 0},
		"less":          {footprint{goroutines: 49, files: 29, heap: 9 * mega}, 0},
		"goroutines":    {footprint{goroutines: 53, files: 30, heap: 10 * mega}, 3},
		"files":         {footprint{goroutines: 50, files: 31, heap: 10 * mega}, 1},
		"a process":     {footprint{goroutines: 50, files: 30, children: 1, heap: 10 * mega}, 1},
		"within slack":  {footprint{goroutines: 50, files: 30, heap: 10*mega + heapSlack}, 0},
		"beyond slack ": {footprint{goroutines: 50, files: 30, heap: 15*mega + heapSlack}, 5},
	} {
		var tl results
		c.after.countLeaks(before, &tl)
		if got := tl.row("", 0).leaked; got != c.want {
			t.Errorf("%s: %d leaked, want %d", name, got, c.want)
		}
		if c.after.fits(before) != (c.want == 0) {
			t.Errorf("%s: back is %t", name, c.after.fits(before))
		}
	}
}
