package agui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
)

// TestWhatTheStreamLacksOfACall plays runs whose events lack the input, the name or the id of a call. The
// record has the right call, whatever the order of the events, and the next run gets it.
func TestWhatTheStreamLacksOfACall(t *testing.T) {
	t.Parallel()
	const (
		rome, kyiv = `weather{"city":"Rome"}`, `weather{"city":"Kyiv"}`
		rain, sun  = `completed:"rain"`, `completed:"sun"`
		end        = "completed stop"
		history    = `A:` + rome + `; tool tA rain toolCallId=A; assistant m2 Found.`
	)
	for name, c := range map[string]struct {
		want []string
		next string // what the next run gets of this one
	}{
		"no-args":                        {[]string{"weather{}", "Found.", rome, rain, end}, `assistant A ` + history},
		"no-args-end":                    {[]string{"weather{}", "Found.", rome, rain, end}, `assistant A ` + history},
		"no-args-no-result":              {[]string{"weather{}", "Found.", rome, rain, end}, `assistant A ` + history},
		"no-args-before":                 {[]string{rome, rain, "Found.", end}, `assistant A ` + history},
		"no-args-between":                {[]string{"weather{}", rome, rain, "Found.", end}, `assistant A ` + history},
		"no-args-in-the-second-snapshot": {[]string{"weather{}", "Found.", rome, rain, end}, `assistant A ` + history},
		"no-args-at-all":                 {[]string{"now{}", "Found.", `completed:"noon"`, end}, `assistant A A:now{}; tool tA noon toolCallId=A; assistant m2 Found.`},
		"no-args-confirmed":              {[]string{"now{}", `completed:"noon"`, "Found.", end}, `assistant A A:now{}; tool tA noon toolCallId=A; assistant m2 Found.`},
		"cut":                            {[]string{`weather{}{"city":"Ro`, "Found.", rome, rain, end}, `assistant A ` + history},
		"cut-in-both":                    {[]string{`weather{}{"city":"Ro`, "Found.", rain, end}, `assistant A A:weather{}; tool tA rain toolCallId=A; assistant m2 Found.`},
		"merged": {
			[]string{`weather{}{"city":"Rome"}{"city":"Kyiv"}`, "Found.", rome, rain, kyiv, sun, end},
			`assistant A ` + history + `; assistant m1 B:` + kyiv + `; tool tB sun toolCallId=B`,
		},
		"merged-results-reversed": {
			[]string{`weather{}{"city":"Rome"}{"city":"Kyiv"}`, "Found.", rome, rain, kyiv, sun, end},
			`assistant A ` + history + `; assistant m1 B:` + kyiv + `; tool tB sun toolCallId=B`,
		},
		"merged-between": {
			[]string{`weather{}{"city":"Rome"}{"city":"Kyiv"}`, rome, kyiv, sun, rain, "Found.", end},
			`assistant A A:` + rome + `; assistant m1 B:` + kyiv + `; tool tB sun toolCallId=B; tool tA rain toolCallId=A; assistant m2 Found.`,
		},
		"doubled": {
			[]string{rome, rain, kyiv, sun, `weather{"city":"Oslo"}`, `completed:"snow"`, "Found.", end},
			`assistant A A:` + rome + `; tool tA rain toolCallId=A; assistant B B:` + kyiv + `; tool tB sun toolCallId=B; assistant C C:weather{"city":"Oslo"}; tool tC snow toolCallId=C; assistant m2 Found.`,
		},
		"wrong-in-the-snapshot": {[]string{rome, rain, "Found.", end}, `assistant A ` + history},
		"no-name":               {[]string{`tool{"city":"Rome"}`, "Found.", rome, rain, end}, `assistant A ` + history},
		"result-other-id":       {[]string{rome, "Found.", rain, end}, `assistant A A:` + rome + `; tool tlc_7 rain toolCallId=A; assistant m2 Found.`},
		"result-other-id-of-two": {
			[]string{rome, kyiv, "Found.", sun, rain, end},
			`assistant A A:` + rome + ` B:` + kyiv + `; tool tlc_8 sun toolCallId=B; tool tlc_7 rain toolCallId=A; assistant m2 Found.`,
		},
		"result-of-nothing": {
			[]string{rome, rain, "Found.", "tool{}", sun, end},
			`assistant A ` + history + ` lc_7:tool{}; tool tlc_7 sun toolCallId=lc_7`,
		},
		"result-twice": {[]string{"weather{}", "Found.", rome, rain, end}, `assistant A ` + history},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, err := os.ReadFile(filepath.Join("testdata", "calls", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			f := newFake(t, map[string][]string{"go": {string(events)}})
			s := newStage(t, f.URL)
			same(t, s.says("go"), c.want)
			s.says("next")
			next := f.input(1).brief()
			same(t, []string{strings.Join(next[1:len(next)-1], "; ")}, []string{c.next})
			same(t, outline(replaytest.Events(replaytest.Play(t, agui.NewDecoder(), events).Records)), c.want)
		})
	}
}
