package gateway

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/tributary-dev/tributary/agent"
)

// The cases are those of the W3C's text: what is not well-formed counts as none.
//
//evidence:for ops-trace-context
func TestTraceparentIsReadAsTheW3CSays(t *testing.T) {
	t.Parallel()
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	good := "00-" + trace + "-" + parent + "-01"
	for name, c := range map[string]struct {
		values []string
		want   string
	}{
		"none":                      {nil, ""},
		"well-formed":               {[]string{good}, good},
		"not sampled":               {[]string{"00-" + trace + "-" + parent + "-00"}, "00-" + trace + "-" + parent + "-00"},
		"twice":                     {[]string{good, good}, ""},
		"empty":                     {[]string{""}, ""},
		"too short":                 {[]string{good[:54]}, ""},
		"version 00 with more":      {[]string{good + "-what"}, ""},
		"capitals":                  {[]string{"00-" + "4BF92F3577B34DA6A3CE929D0E0E4736" + "-" + parent + "-01"}, ""},
		"no hexadecimal trace":      {[]string{"00-" + "xbf92f3577b34da6a3ce929d0e0e4736" + "-" + parent + "-01"}, ""},
		"no hexadecimal in between": {[]string{"00-" + "4bf92f3577b34da6a3ce929d0e0x4736" + "-" + parent + "-01"}, ""},
		"no hexadecimal flags":      {[]string{good[:53] + "0x"}, ""},
		"other separators":          {[]string{"00_" + trace + "_" + parent + "_01"}, ""},
		"trace of zeros":            {[]string{"00-00000000000000000000000000000000-" + parent + "-01"}, ""},
		"parent of zeros":           {[]string{"00-" + trace + "-0000000000000000-01"}, ""},
		"version ff":                {[]string{"ff" + good[2:]}, ""},
		"no version":                {[]string{"0x" + good[2:]}, ""},
		"later version":             {[]string{"cc" + good[2:]}, good},
		"later version with more":   {[]string{"01" + good[2:53] + "09-what-the-future-will-be-like"}, good},
		"later version, unsampled":  {[]string{"01" + good[2:53] + "08"}, good[:53] + "00"},
		"later version, run on":     {[]string{"cc" + good[2:] + ".what"}, ""},
	} {
		h := http.Header{}
		for _, v := range c.values {
			h.Add("traceparent", v)
		}
		got := traceparent(h)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		id := agent.Caller{Traceparent: got}.TraceID()
		if want := map[bool]string{true: trace}[got != ""]; id != want {
			t.Errorf("%s: the trace is %q, want %q", name, id, want)
		}
	}
}

// For every input, the gateway passes on nothing, or exactly version 00.
func FuzzTraceparent(f *testing.F) {
	for _, v := range []string{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-09-x", "00-", ""} {
		f.Add(v)
	}
	formed := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	f.Fuzz(func(t *testing.T, v string) {
		if got := traceparent(http.Header{"Traceparent": {v}}); got != "" && (!formed.MatchString(got) || got[3:52] != v[3:52]) {
			t.Errorf("%q became %q", v, got)
		}
	})
}
