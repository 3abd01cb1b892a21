package chatbody

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

const mb = 1 << 20

func TestReadChat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, user, last string }{
		{"stock submit", `{"id":"c","messages":[{"role":"user","id":"u1","parts":[{"type":"text","text":"hi"}]}],"trigger":"submit-message"}`, "u1:hi", "user"},
		{"parts before role", `{"messages":[{"parts":[{"type":"text","text":"hi"}],"id":"u1","role":"user"}],"id":"c"}`, "u1:hi", "user"},
		{"whole history", `{"id":"c","messages":[{"role":"user","id":"u1","parts":[{"type":"text","text":"a"}]},{"role":"assistant","id":"m1","parts":[{"type":"text","text":"b"}]},{"role":"user","id":"u2","parts":[{"type":"text","text":"c"}]}]}`, "u2:c", "user"},
		{"continuation", `{"id":"c","messageId":"m1","messages":[{"role":"user","id":"u1","parts":[{"type":"text","text":"a"}]},{"role":"assistant","id":"m1","parts":[]}]}`, "u1:a", "assistant"},
		{"last message only", `{"id":"c","message":{"role":"user","id":"u1","parts":[{"type":"text","text":"hi"}]}}`, "u1:hi", "user"},
		{"content of old", `{"id":"c","messages":[{"role":"user","id":"u1","content":"hi"}]}`, "u1:hi", "user"},
		{"unknown keys and parts", `{"id":"c","x":{"y":[1,{"z":null}]},"messages":[{"role":"user","id":"u1","parts":[{"type":"data-x","data":1},{"type":"text","text":"hi"}]}]}`, "u1:hi", "user"},
		{"null id", `{"id":null,"messages":[]}`, "", ""},
		{"user id missing", `{"id":"c","messages":[{"role":"user","parts":[{"type":"text","text":"hi"}]}]}`, ":hi", "user"},
	} {
		req, err := Read(strings.NewReader(c.body), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		user := ""
		if req.User != nil {
			user = req.User.ID + ":"
			for _, p := range req.User.Parts {
				user += p.Text
			}
		}
		if user != c.user || req.LastRole != c.last {
			t.Errorf("%s: user %q last %q", c.name, user, req.LastRole)
		}
	}
}

//evidence:for limit-id
func TestReadChatRefuses(t *testing.T) {
	t.Parallel()
	deep := `{"id":"c","x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`
	for _, c := range []struct{ name, body, want string }{
		{"nothing", ``, "empty"},
		{"not JSON", `hello`, "not JSON"},
		{"a list", `[]`, "must be a JSON object"},
		{"cut off", `{"id":"c","messages":[`, "ends in the middle"},
		{"id is a number", `{"id":7}`, "`id` must be a string"},
		{"a long word", `{"id":"c","channelId":"` + strings.Repeat("x", maxWord+1) + `"}`, "`channelId` is longer than 64 KB: send a shorter one."},
		{"messages is an object", `{"messages":{}}`, "must be a list"},
		{"message is a string", `{"messages":["hi"]}`, "must be an object"},
		{"part is a string", `{"messages":[{"role":"user","parts":["hi"]}]}`, "not an object"},
		{"too deep", deep, "nested deeper"},
		{"goes on", `{"id":"c"}{}`, "goes on"},
	} {
		_, err := Read(strings.NewReader(c.body), nil)
		var body *refusal.Error
		if !errors.As(err, &body) || !strings.Contains(body.Sentence, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// repeated yields head, then unit n times, then tail.
func repeated(head, unit string, n int, tail string) io.Reader {
	readers := []io.Reader{strings.NewReader(head)}
	for range n {
		readers = append(readers, strings.NewReader(unit))
	}
	return io.MultiReader(append(readers, strings.NewReader(tail))...)
}

func TestReadChatKeepsLittleOfALongHistory(t *testing.T) {
	t.Parallel()
	message := `{"role":"assistant","id":"m","parts":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]},`
	req, err := read(repeated(`{"id":"c","messages":[`, message, 4, `{"role":"user","id":"u","parts":[{"type":"text","text":"hi"}]}]}`), 64<<20, 1<<20, nil)
	if err != nil || req.User == nil || req.User.ID != "u" {
		t.Fatalf("%+v %v", req, err)
	}
}

func TestReadChatRefusesATooLargeMessage(t *testing.T) {
	t.Parallel()
	part := `{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"},`
	_, err := read(repeated(`{"id":"c","messages":[{"role":"user","id":"u","parts":[`, part, 2, `{"type":"text","text":"hi"}]}]}`), 64<<20, 1<<20, nil)
	var body *refusal.Error
	if !errors.As(err, &body) || body.Status != 413 {
		t.Fatalf("%v", err)
	}
	_, err = read(repeated(`{"id":"c","x":[`, `1,`, 1000, `1]}`), 1000, 1<<20, nil)
	if !errors.As(err, &body) || body.Status != 413 {
		t.Fatalf("%v", err)
	}
}

// A single text is held in memory while it is read, so it is bounded too, also
// where nothing of it is kept.
func TestReadChatBoundsATextThatIsNotKept(t *testing.T) {
	t.Parallel()
	_, err := read(repeated(`{"id":"c","x":"`, strings.Repeat("y", 1<<20), 5, `","messages":[]}`), 64<<20, 1<<20, nil)
	var e *refusal.Error
	if !errors.As(err, &e) || e.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("error %v", err)
	}
}

// The kept values of a body count with their cost in memory, long numbers as well as many
// small values.
//
//evidence:for limit-message
func TestWhatIsKeptOfABodyIsCounted(t *testing.T) {
	const most = 1 << 20
	keys := "{"
	for i := range 10_000 {
		keys += fmt.Sprintf(`"k%d":12,`, i)
	}
	bodies := map[string]string{"an object of many keys": keys + `"k":1}`}
	for _, unit := range []string{
		strings.Repeat("1", maxNumber) + ",", "12,", `"",`, `"ab",`, "null,", "[],", "[12],", "{},", `{"ab":12},`, `[[[[[{"ab":["cd"]}]]]]],`,
		`{"ab":12,"cd":12,"ef":12,"gh":12,"ij":12,"kl":12,"mn":12,"op":12,"qr":12},`, `"` + strings.Repeat("x", 1<<16) + `",`,
	} {
		bodies[unit[:min(20, len(unit))]] = "[" + strings.Repeat(unit, 2*most/(len(unit)+40)) + "1]"
	}
	for name, body := range bodies {
		s := &scanner{dec: json.NewDecoder(strings.NewReader(body)), most: most}
		s.dec.UseNumber()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		v, err := s.value(1, true)
		s.dec = nil // its buffer is no part of what is kept
		runtime.GC()
		runtime.ReadMemStats(&after)
		if cost := int64(after.HeapAlloc) - int64(before.HeapAlloc); err != nil || cost > most*5/4 || cost > int64(s.kept)*5/4 {
			t.Errorf("%s: %d KB are kept, and %d counted: %v", name, cost>>10, s.kept>>10, err)
		}
		runtime.KeepAlive(v)
		runtime.KeepAlive(body)
	}
}

// A text whose JSON is six times as long is refused before there is that JSON.
func TestWhatIsPassedOnIsMeasuredFirst(t *testing.T) {
	var before, after runtime.MemStats
	text := []any{map[string]any{"k": strings.Repeat("\x01", 4<<20)}}
	runtime.ReadMemStats(&before)
	_, err := passThroughJSON("metadata", text)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 1<<20 {
		t.Errorf("%d KB were taken: %v", took>>10, err)
	}
}

// Values that go on record as they were sent are bounded, and so are numbers.
//
//evidence:for limit-metadata limit-number
func TestReadChatBoundsWhatIsPassedOn(t *testing.T) {
	t.Parallel()
	// Each has more than 1 MB: as it was sent, or as it would be on record.
	for _, large := range []string{`"` + strings.Repeat("x", 1<<20) + `"`, `"` + strings.Repeat("<", 200<<10) + `"`, `[` + strings.Repeat("1234567890123456789,", 55_000) + `1]`, `[` + strings.Repeat(strings.Repeat("7", maxNumber)+",", 1100) + `1]`, `{"` + strings.Repeat("k", 1<<20) + `":1}`} {
		for body, name := range map[string]string{
			`{"id":"c","messages":[{"role":"user","id":"u","parts":[],"metadata":` + large + `}]}`: "metadata",
			`{"id":"c","updated_input":` + large + `,"messages":[]}`:                               "updated_input",
			`{"id":"c","messages":[{"role":"assistant","id":"m","parts":[{"type":"tool-AskPermission","toolCallId":"permission-r","state":"output-available","output":{"updated_input":` + large + `}}]}]}`: "updated_input",
		} {
			_, err := Read(strings.NewReader(body), nil)
			if e, ok := errors.AsType[*refusal.Error](err); !ok || e.Status != http.StatusRequestEntityTooLarge || e.Sentence != "The `"+name+"` is larger than 1 MB: send less." {
				t.Errorf("%s %.20s…: %v", name, large, err)
			}
		}
	}
	number := strings.Repeat("7", maxNumber)
	for _, at := range []string{`{"id":"c","x":%s,"messages":[]}`, `{"id":"c","updated_input":{"n":%s},"messages":[]}`, `{"id":"c","messages":[{"role":"user","parts":[],"metadata":{"n":[%s]}}]}`} {
		if _, err := Read(strings.NewReader(fmt.Sprintf(at, number)), nil); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		_, err := Read(strings.NewReader(fmt.Sprintf(at, number+"7")), nil)
		if e, ok := errors.AsType[*refusal.Error](err); !ok || e.Status != http.StatusBadRequest || e.Sentence != "The request body holds a number of more than 1000 digits: send it as a text." {
			t.Errorf("%s, with one digit more: %v", at, err)
		}
	}
}

// Space takes time that grows with its square, so there is a bound on it; and none
// on the space in a text.
//
//evidence:for limit-space
func TestReadChatBoundsSpace(t *testing.T) {
	t.Parallel()
	space := strings.Repeat(" \r\n\t", 1<<18)
	for _, before := range []string{"", "{", `{"id"`, `{"id":`, `{"id":"c"`, `{"id":"c","x":[1,`} {
		_, err := Read(io.MultiReader(strings.NewReader(before), strings.NewReader(space)), nil)
		if e, ok := errors.AsType[*refusal.Error](err); !ok || e.Status != http.StatusBadRequest || !strings.Contains(e.Sentence, "64 KB of space") {
			t.Errorf("space after %q: %v", before, err)
		}
	}
	for n, taken := range map[int]bool{64 << 10: true, 64<<10 + 1: false, 100_000: false, 1 << 20: false} {
		for _, at := range []int{1, 1000, 1<<16 - 5} {
			body := `{"x":"` + strings.Repeat("x", at) + `",` + strings.Repeat(" ", n) + `"id":"c","messages":[]}`
			if _, err := Read(strings.NewReader(body), nil); (err == nil) != taken {
				t.Errorf("%d bytes of space behind %d: %v", n, at, err)
			}
		}
	}
	text := strings.Repeat(" ", 1<<20) + "hi"
	body := `{"id":"c",` + strings.Repeat(" ", 1<<15) + `"messages":[{"role":"user","id":"u1","parts":[{"type":"text","text":"` + text + `"}]}]}`
	if req, err := Read(strings.NewReader(body), nil); err != nil || req.User.Parts[0].Text != text {
		t.Errorf("space in a text: %v", err)
	}
}

// A call that the gateway itself has ended is no answer to the request that asks again below
// it.
func TestReadChatOfWhatWasAskedAgain(t *testing.T) {
	t.Parallel()
	const above = `{"type":"tool-AskUser","toolCallId":"q","state":"output-error","input":{},"errorText":"It is asked again below."},` +
		`{"type":"tool-AskPermission","toolCallId":"permission-r","state":"output-error","input":{},"errorText":"It is asked again below."}`
	for name, c := range map[string]struct {
		below string
		want  int
	}{
		"answered": {`,{"type":"tool-AskUser","toolCallId":"q~ask","state":"output-available","input":{},"output":"blue"},` +
			`{"type":"dynamic-tool","toolName":"AskPermission","toolCallId":"permission-r~call","state":"output-available","input":{},"output":true}`, 2},
		"not answered": {`,{"type":"tool-AskUser","toolCallId":"q~ask","state":"input-available","input":{}},` +
			`{"type":"tool-AskPermission","toolCallId":"permission-r~call","state":"input-available","input":{}}`, 0},
		"declined": {"", 2},
	} {
		req, err := Read(strings.NewReader(`{"id":"c","messages":[{"role":"assistant","id":"m","parts":[`+above+c.below+`]}]}`), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		parts := req.Answers("m")
		if len(parts) != c.want {
			t.Errorf("%s: %+v", name, parts)
		}
		for _, p := range parts {
			yes := p.Question && len(p.Values) > 0 || !p.Question && *p.Choice.Approved
			if yes != (name == "answered") {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

// A page that shows an open call of the app shows the request that the turn waits for, so
// its message may answer that request.
func TestReadChatOfAnOpenCallOfTheApp(t *testing.T) {
	t.Parallel()
	req, err := Read(strings.NewReader(`{"id":"c","messages":[{"role":"assistant","id":"m","parts":[`+
		`{"type":"tool-confirm","toolCallId":"open","state":"input-available","input":{}},{"type":"tool-search","toolCallId":"run","state":"input-available","input":{},"providerExecuted":true},`+
		`{"type":"tool-confirm","toolCallId":"done","state":"output-available","input":{},"output":1}]},{"role":"user","id":"u","parts":[{"type":"text","text":"never mind"}]}]}`), nil)
	if err != nil || !slices.Equal(req.Shown, []string{"open"}) {
		t.Errorf("the page shows %q (%v)", req.Shown, err)
	}
}

// The counted size of a body is its size, whatever part of it is kept.
//
//evidence:for limit-uploads
func TestWhatABodyHolds(t *testing.T) {
	text := strings.Repeat(`hello\n`, mb/2)
	body := `{"x":"` + text + `","messages":[{"role":"assistant","id":"m1","parts":[{"type":"text","text":"` + text + `"}]},` +
		`{"role":"user","id":"u1","parts":[{"type":"text","text":"` + text + `"},{"type":"text","text":"` + text + `"}]},` +
		`{"role":"assistant","id":"m2","parts":[` + strings.Repeat(`{"n":1},`, mb/16) + `{"type":"text","text":"` + text + `"}]}],"y":"z"}`
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most := heap(), int64(0)
	req, err := Read(&pieces{strings.NewReader(body), 256 << 10}, func(held int64) error {
		most = max(most, held)
		if holds := heap() - before; holds > held+mb {
			t.Errorf("it holds %d KB, and %d are counted", holds>>10, held>>10)
		}
		return nil
	})
	if err != nil || req.User == nil || most > 80*mb {
		t.Errorf("%d MB at the most: %v", most>>20, err)
	}
	runtime.KeepAlive(body)
}

// pieces gives no more than so many bytes at once, as a connection does.
type pieces struct {
	r    io.Reader
	most int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.most)]) }
