package uistream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

func TestAListOfMessagesIsItsJSON(t *testing.T) {
	t.Parallel()
	told, err := uistream.History(seq(durable(story(t, 3, "a <b> & \"c\"\n\u2028"))), uistream.Options{})
	if err != nil || len(told) == 0 {
		t.Fatalf("a history of %d messages, %v", len(told), err)
	}
	for _, list := range [][]uistream.Message{nil, {}, told, append(told, told...)} {
		marshaled, err := json.Marshal(append([]uistream.Message{}, list...))
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		var written bytes.Buffer
		if err := uistream.WriteMessages(&written, list); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(marshaled, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d messages become %v, not %v (%v)", len(list), got, want, err)
		}
	}
}

// pieces notes how much is written at once, and fails after some of them.
type pieces struct {
	largest, most int
	err           error
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.most--; p.most < 0 {
		return 0, p.err
	}
	p.largest = max(p.largest, len(b))
	return len(b), nil
}

// Of a large history the line is not in memory as a whole.
func TestMessagesAreWrittenInPieces(t *testing.T) {
	t.Parallel()
	const text = 20 << 10
	m := uistream.Message{ID: "m", Role: "assistant"}
	for range 100 {
		m.Parts = append(m.Parts, uistream.Part{Type: "text", Text: strings.Repeat("x", text)})
	}
	w := pieces{most: 1000}
	if err := uistream.WriteMessages(&w, []uistream.Message{m, m}); err != nil || w.largest > 4*text {
		t.Errorf("%d bytes at once, %v", w.largest, err)
	}
	w = pieces{most: 3, err: errors.New("gone")}
	if err := uistream.WriteMessages(&w, []uistream.Message{m, m}); !errors.Is(err, w.err) || w.most != -1 {
		t.Errorf("it went on writing %d times to a client that has gone: %v", -w.most, err)
	}
}
