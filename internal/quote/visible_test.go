package quote_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/quote"
)

// hiddenOnes are characters of all kinds that a reader cannot see, or that change the order of
// what is read.
const hiddenOnes = "\x00\a\b\v\f\r\x1b\x7f\u0085\u009b\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e" +
	"\u2060\u2064\u2066\u2067\u2068\u2069\u206f\u3164\ufe0f\ufeff\ufff9\U000e0041\U000e0100"

func TestHiddenCharactersAreNamed(t *testing.T) {
	t.Parallel()
	for _, r := range hiddenOnes {
		if got, want := quote.Visible("a"+string(r)+"b"), fmt.Sprintf("a<U+%04X>b", r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const plain = "a\tb\nc é ñ 漢字 עברית العربية 😀 — “x” \u00a0"
	if got := quote.Visible(plain); got != plain {
		t.Errorf("%q is written as %q", plain, got)
	}
}

func TestJSONInLines(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"command":"git","args":["push","--force"]}`:                 "{\n  \"command\": \"git\",\n  \"args\": [\"push\", \"--force\"]\n}",
		`{"a":"1","a":"2"}`:                                           "{\n  \"a\": \"1\",\n  \"a\": \"2\"\n}",
		`{"a":"x\ny\n","b":"x\\n"}`:                                   "{\n  \"a\": \"x\\n\n    y\\n\",\n  \"b\": \"x\\\\n\"\n}",
		`{ "e":{}, "l":[ ], "n":12345678901234567890, "s":"\ud800" }`: "{\n  \"e\": {},\n  \"l\": [],\n  \"n\": 12345678901234567890,\n  \"s\": \"\\ud800\"\n}",
		`{"a":{"b":1}}`:                                               "{\n  \"a\": {\"b\": 1}\n}",
		`{}`:                                                          "{}",
		`"x"`:                                                         `"x"`,
		`null`:                                                        "null",
		`{"cut`:                                                       `{"cut`,
	} {
		if got := quote.Lines([]byte(raw)); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", raw, got, want)
		}
	}
}

var broken = regexp.MustCompile(`\\n\n *`)

// All of a value stands in its lines. An indentation is bounded, so that a deep value is not
// large.
func FuzzLines(f *testing.F) {
	for _, raw := range []string{`{"a":[1,{"b":"x\ny"},[[]]],"":null}`, strings.Repeat("[", 500) + strings.Repeat("]", 500), `"\n \n"`, `["\\n","\\\n"]`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var want, got bytes.Buffer
		if err := json.Compact(&want, raw); err != nil {
			t.Fatal(err)
		}
		lines := quote.Lines(raw)
		if len(lines) > 60*len(raw)+60 {
			t.Errorf("%d bytes of %d", len(lines), len(raw))
		}
		// A line of a string may begin with spaces of its own, so spaces do not count.
		if err := json.Compact(&got, []byte(broken.ReplaceAllString(lines, `\n`))); err != nil {
			t.Fatalf("%v in\n%s", err, lines)
		}
		bare := func(b []byte) string { return strings.ReplaceAll(string(b), " ", "") }
		if bare(got.Bytes()) != bare(want.Bytes()) {
			t.Errorf("%s\nis written as\n%s", raw, lines)
		}
	})
}
