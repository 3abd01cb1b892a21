package natslog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 99, 100, 101, 200, 250} {
		whole := frame{First: 5, Last: 9, Begin: []mark{{"t", 5}}, End: []mark{{"t", 9}}}
		text := []byte(strings.Repeat("x", size))
		frames, pieces := whole.split(text, frameRoom+100)
		if want := max(1, (size+99)/100); len(frames) != want || len(pieces) != want {
			t.Fatalf("%d bytes became %d pieces, want %d", size, len(pieces), want)
		}
		if joined := bytes.Join(pieces, nil); !bytes.Equal(joined, text) {
			t.Errorf("%d bytes came back as %d", size, len(joined))
		}
		for i, f := range frames {
			last := i == len(frames)-1
			if f.complete() != last || (f.Begin != nil) != last || f.First != 5 || f.Last != 9 {
				t.Errorf("piece %d of %d bytes has frame %+v", i, size, f)
			}
			if len(frames) > 1 && (f.Piece != i+1 || f.Of != len(frames)) {
				t.Errorf("piece %d of %d bytes says %d of %d", i, size, f.Piece, f.Of)
			}
		}
	}
}

// However it is written, the first line is the frame's JSON.
func TestFirstLine(t *testing.T) {
	t.Parallel()
	most := uint64(math.MaxUint64)
	for _, f := range []frame{
		{},
		{First: 1, Last: 0},
		{Prev: most, First: most, Last: most},
		{Prev: 7, First: 5, Last: 9, Piece: 2, Of: 3},
		{Prev: 7, First: 5, Last: 9, Begin: []mark{{"t", 5}}},
		{Prev: 7, First: 5, Last: 9, End: []mark{{"t", 9}}},
	} {
		want, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.appendTo(nil, []byte("records")); err != nil || string(got) != string(want)+"\nrecords" {
			t.Errorf("%+v is written as %s, %v; want %s", f, got, err, want)
		}
	}
	if n := len((frame{Prev: most, First: most, Last: most}).appendPlain(nil)); n > plainRoom {
		t.Errorf("a plain frame takes %d bytes, and %d are set aside", n, plainRoom)
	}
}

func TestDecodeRecordsRejects(t *testing.T) {
	t.Parallel()
	line := func(session string, seq uint64) string {
		b, err := trace.Record{Session: session, Seq: seq, Event: trace.Event{ID: "1", Payload: trace.Message{}}}.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	f := frame{First: 3, Last: 4}
	for name, text := range map[string]string{
		"nothing":         "",
		"too few":         line("s", 3),
		"too many":        line("s", 3) + line("s", 4) + line("s", 5),
		"wrong number":    line("s", 3) + line("s", 5),
		"another session": line("s", 3) + line("r", 4),
		"cut off":         line("s", 3) + line("s", 4)[:20],
		"not JSON":        line("s", 3) + "{\n",
	} {
		if rs, err := decodeRecords("s", f, []byte(text)); err == nil {
			t.Errorf("%s: got %d records", name, len(rs))
		}
	}
	if rs, err := decodeRecords("s", f, []byte(line("s", 3)+line("s", 4))); err != nil || len(rs) != 2 {
		t.Errorf("good records: %d, %v", len(rs), err)
	}
}

func TestIndexComesBack(t *testing.T) {
	t.Parallel()
	places := []place{{at: 1, first: 1, last: 3, size: 9}, {at: 4, first: 4, last: 4, size: 99, piece: 1, of: 2}, {at: 7, first: 4, last: 4, size: 5, piece: 2, of: 2}}
	m := indexMessage{Before: 3, Prev: 7, Count: 3, Last: 4, Begin: []mark{{"a", 1}}, End: []mark{{"b", 4}}, Open: []mark{{"a", 1}}}
	for _, p := range places {
		m.Places = append(m.Places, p.row())
	}
	body, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, gotPlaces, err := decodeIndex(body)
	if err != nil || !reflect.DeepEqual(got, m) || !reflect.DeepEqual(gotPlaces, places) {
		t.Fatalf("got %+v %+v %v", got, gotPlaces, err)
	}
}

func TestKeysAreSafe(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range []string{"", " ", ".", "*", ">", "a.b", strings.Repeat("é", 100), "A", "a"} {
		k := key(id)
		if seen[k] || strings.Trim(k, "0123456789abcdef") != "" {
			t.Errorf("key of %q is %q", id, k)
		}
		seen[k] = true
	}
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add([]byte(`{"prev":1,"first":2,"last":2}` + "\n" + `{"v":1,"session":"s","seq":2,"id":"x","ts":"2026-01-01T00:00:00Z","type":"stop","payload":{}}` + "\n"))
	f.Add([]byte(`{"prev":1,"first":2,"last":18446744073709551615}` + "\n\n"))
	f.Add([]byte(`{"prev":1,"first":3,"last":2,"piece":1,"of":2,"begin":[{"turn":"t","seq":3}]}` + "\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		head, text, err := decodeFrame(body)
		if err != nil {
			return
		}
		again, err := head.appendTo(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		head2, text2, err := decodeFrame(again)
		if err != nil || !bytes.Equal(text, text2) || fmt.Sprint(head) != fmt.Sprint(head2) {
			t.Fatalf("%+v came back as %+v, %v", head, head2, err)
		}
		records, err := decodeRecords("s", head, text)
		if err == nil && uint64(len(records)) != head.Last+1-head.First {
			t.Fatalf("%d records for %+v", len(records), head)
		}
	})
}

func FuzzDecodeIndex(f *testing.F) {
	f.Add([]byte(`{"before":1,"prev":2,"count":3,"last":4,"places":[[1,2,3,4],[1,2,3,4,5,6]],"begin":[{"turn":"t","seq":1}]}`))
	f.Add([]byte(`{"places":[[1]]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, places, err := decodeIndex(body)
		if err == nil && len(places) != len(m.Places) {
			t.Fatalf("%d places of %d", len(places), len(m.Places))
		}
	})
}

func FuzzSplitDoc(f *testing.F) {
	f.Add([]byte("{\"session\":\"s\"}\nany\nbytes"))
	f.Fuzz(func(t *testing.T, value []byte) {
		session, doc, err := splitDoc(value)
		if err != nil {
			return
		}
		head, err := json.Marshal(docHead{session})
		if err != nil {
			t.Fatal(err)
		}
		session2, doc2, err := splitDoc(append(append(head, '\n'), doc...))
		if err != nil || session2 != session || !bytes.Equal(doc, doc2) {
			t.Fatalf("%q %q came back as %q %q, %v", session, doc, session2, doc2, err)
		}
	})
}
