package quote_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/internal/quote"
)

// asStandard is what encoding/json makes of it.
func asStandard(t *testing.T, s string) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

func FuzzAppend(f *testing.F) {
	for _, s := range []string{
		"", "plain", `"quotes" and \`, "\n\r\t\b\f\x00\x1f\x7f", "<a href='x'>&", "é 漢 😀", "\u2028\u2029", "\ufffd",
		"cut \xe6\xbc", "\xff", "\xed\xa0\xbd", "a\xffb\xfec",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := string(quote.Append([]byte("before"), s)), "before"+asStandard(t, s); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", s, got, want)
		}
	})
}
