package agentops_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// checkAnyInput plays any bytes. Every turn must be well formed, and the decoder must not panic.
func checkAnyInput(t testing.TB, recording []byte) {
	t.Helper()
	if err := replaytest.AnyInput(t, agentops.NewDecoder(agentops.Options{}), recording); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	running := toolPart("a", "running", `,"args":{"x":1}`)
	for _, seed := range [][]string{
		lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "One")), toUs(wholeFrame("t", textPart("One."), running)), toUs(chunkFrame("t", "Two")), toUs(wholeFrame("t", textPart("Two"), running, textPart("Two"), finishPart("end_turn"))), toUs(notBusy)),
		lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(chunkFrame("t", "One")), toUs(initFrame), toUs(chunkFrame("t", "!")), toUs(wholeFrame("t", textPart("One?!"), finishPart("error"), `{"type":"error","message":"x"}`))),
		lines(promptBegun(initFrame), toUs(startFrame("t")), toUs(`{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"?"}}`), fromUs(`{"type":"answer","questionId":"q","answer":true}`), toUs(`{"type":"interactive_prompt","prompt":{"id":"i","type":"approval","context":{"toolId":"x"}}}`), fromUs(`{"type":"abort"}`), toUs(idle), toUs(chunkFrame("t", "late"))),
		lines(promptBegun(initFrame), fromUs(promptFrame("B")), toUs(`{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"B"}}}`), toUs(`{"type":"queue.withdrawn","data":{"messageId":"p2","content":"B"}}`), toUs(`{"type":"status","data":{"promptDequeued":true}}`), toUs(`{"type":"error","error":"e"}`), toUs(`{"type":"status","data":{"status":"terminated"}}`)),
	} {
		f.Add([]byte(strings.Join(seed, "\n")))
	}
	f.Fuzz(func(t *testing.T, recording []byte) { checkAnyInput(t, recording) })
}

// TestLostDoubledAndMovedLines plays recordings that were damaged line by line.
func TestLostDoubledAndMovedLines(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each recording is played many times")
	}
	for name, recording := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(15) {
				random := rand.New(rand.NewPCG(seed, 1))
				damaged := slices.Clone(recording)
				for range 1 + random.IntN(20) {
					at := random.IntN(len(damaged))
					switch random.IntN(3) {
					case 0:
						damaged = slices.Delete(damaged, at, at+1)
					case 1:
						damaged = slices.Insert(damaged, at, damaged[random.IntN(len(damaged))])
					default:
						other := random.IntN(len(damaged))
						damaged[at], damaged[other] = damaged[other], damaged[at]
					}
				}
				checkAnyInput(t, []byte(strings.Join(damaged, "\n")))
			}
		})
	}
}

// TestAnyFramesInAnyOrder plays frames of a few turns, calls, prompts and questions in
// an order that no session agent would send.
func TestAnyFramesInAnyOrder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a Decoder is played many times")
	}
	pick := func(random *rand.Rand, of ...string) string { return of[random.IntN(len(of))] }
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		turn := func() string { return pick(random, "t1", "t2", "t3") }
		word := func() string { return pick(random, "", "a", "ab", "abc", "x", `\ud83d`, `\ude00`) }
		call := func() string {
			return toolPart(pick(random, "a", "b"), pick(random, "pending", "running", "completed", "error", "odd"), pick(random, "", `,"args":{}`, `,"args":{"x":1}`, `,"result":"r"`, `,"error":"e"`))
		}
		frame := func() string {
			switch random.IntN(14) {
			case 0:
				return toUs(pick(random, initFrame, initFrame, strings.Replace(initFrame, `"runnerBusy":false`, `"runnerBusy":true`, 1)))
			case 1:
				return toUs(startFrame(turn()))
			case 2:
				return toUs(strings.ReplaceAll(chunkFrame(turn(), word()), `\\u`, `\u`))
			case 3:
				return toUs(inChannel(chunkFrame(turn(), "c"), pick(random, "thread:A", "slack:B")))
			case 4:
				return toUs(wholeFrame(turn(), call()))
			case 5:
				return toUs(wholeFrame(turn(), textPart(word()+word()), call(), textPart(word()), call()))
			case 6:
				return toUs(wholeFrame(turn(), textPart(word()), pick(random, finishPart("end_turn"), finishPart("error"), finishPart("canceled"))))
			case 7:
				return toUs(wholeFrame(turn(), call(), textPart(word()), finishPart("max_fun")))
			case 8:
				return pick(random, fromUs(promptFrame("Go")), fromUs(promptFrame("No")), fromUs(`{"type":"abort"}`), fromUs(`{"type":"answer","questionId":"q","answer":"Go"}`))
			case 9:
				return toUs(userFrame(pick(random, "p1", "p2", "p3"), pick(random, "Go", "No"), pick(random, "u1", "u2")))
			case 10:
				return toUs(pick(random, idle, thinking, streaming, notBusy, joined, `{"type":"status","data":{"promptQueued":true}}`, `{"type":"status","data":{"promptDequeued":true}}`))
			case 11:
				return toUs(pick(random, `{"type":"interactive_prompt","prompt":{"id":"q","type":"question","title":"?"}}`, `{"type":"interactive_prompt","prompt":{"id":"i","type":"approval","title":"?","context":{"toolId":"bash"}}}`, `{"type":"interactive_prompt_resolved","promptId":"q","resolution":{"value":"x","resolvedBy":"u2"}}`))
			case 12:
				return toUs(pick(random, `{"type":"interactive_prompt_resolved","promptId":"i","resolution":{"actionId":"deny"}}`, `{"type":"interactive_prompt_expired","promptId":"q"}`, `{"type":"queue.state","data":{"pending":{"messageId":"p2","content":"Go"}}}`, `{"type":"queue.withdrawn","data":{"messageId":"p2","content":"Go"}}`))
			default:
				return toUs(pick(random, `{"type":"error","error":"e"}`, `{"type":"status","data":{"status":"error"}}`, `{"type":"status","data":{"status":"terminated"}}`, `{"type":"status","data":{"runnerConnected":false}}`, `{"type":"screenshot","data":"AA"}`))
			}
		}
		var recording []string
		for range 80 {
			recording = append(recording, frame())
		}
		if checkAnyInput(t, []byte(strings.Join(recording, "\n"))); t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(recording, "\n"))
		}
	}
}

// TestNothingIsRepeated: frames that come twice say nothing new.
func TestNothingIsRepeated(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		var doubled []string
		for _, l := range recording {
			doubled = append(doubled, l)
			if strings.Contains(l, `"dir":"s2c"`) && !strings.Contains(l, `"chunk"`) { // pieces of text have no place of their own
				doubled = append(doubled, l)
			}
		}
		if a, b := summaries(playBack(t, recording)), summaries(playBack(t, doubled)); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s:\n%v\n%v", name, a, b)
		}
	}
}

// heap is what is in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// kept is what a Decoder and its turn keep of a recording with so many frames.
func kept(t *testing.T, frame func(i int) string, frames int) int64 {
	t.Helper()
	recording := lines(promptBegun(initFrame), toUs(startFrame("t")))
	for i := range frames {
		recording = append(recording, frame(i))
	}
	d := agentops.NewDecoder(agentops.Options{})
	_, err := replay.Run(t.Context(), d, strings.NewReader(strings.Join(recording, "\n")), func(trace.Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(recording)
	with := heap()
	runtime.KeepAlive(d)
	return with - heap()
}

// TestAHostileServerCostsBoundedMemory: what is kept of what never ends.
func TestAHostileServerCostsBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	rounds := 1000 // they show what costs more than 250 bytes a frame; all rounds show 25
	if agenttest.Full() {
		rounds = 10_000
	}
	for name, frame := range map[string]func(i int) string{
		"snapshots without end": func(i int) string {
			return toUs(wholeFrame("t", textPart(strings.Repeat("x", i%7)), toolPart("a", "running", "")))
		},
		"types without end":   func(i int) string { return toUs(fmt.Sprintf(`{"type":"new-%d"}`, i)) },
		"turns without end":   func(i int) string { return toUs(startFrame(fmt.Sprint("t", i))) },
		"prompts without end": func(i int) string { return toUs(userFrame(fmt.Sprint("p", i), "x", "u2")) },
		"ours without end":    func(i int) string { return fromUs(promptFrame(fmt.Sprint(i))) },
		"questions without end": func(i int) string {
			return toUs(fmt.Sprintf(`{"type":"interactive_prompt","prompt":{"id":"q%d","type":"question","title":"?"}}`, i))
		},
		"calls without end": func(i int) string { return toUs(wholeFrame("t", toolPart(fmt.Sprint("c", i), "running", ""))) },
		"channels without end": func(i int) string {
			return toUs(inChannel(startFrame(fmt.Sprint("t", i)), fmt.Sprintf("x:%d", i)))
		},
		"ids that are used again": func(i int) string {
			return toUs(wholeFrame("t", toolPart("a", []string{"running", "completed"}[i%2], `,"args":{"x":1}`)))
		},
		"ids of great length": func(i int) string { return toUs(startFrame(strings.Repeat("t", 100_000))) },
	} {
		t.Run(name, func(t *testing.T) { // one after another: the heap is measured
			n := map[string]int{"ids of great length": 50, "calls without end": 30_000}[name] // of 10,000 calls a turn drops more
			if n == 0 {
				n = rounds
			}
			grown := kept(t, frame, n) - kept(t, frame, 1) // what a Decoder and its turn take is no growth
			limit := int64(250 << 10)
			if strings.HasPrefix(name, "calls") || strings.HasPrefix(name, "ids that") {
				limit = 4 << 20 // a turn knows its calls until it ends, but no more than 10,000
			}
			if grown > limit {
				t.Errorf("%d bytes are kept", grown)
			}
		})
	}
}
