package eval_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eval"
)

func cell(name string, repeat int, v eval.Verdict) eval.Cell {
	return eval.Cell{Key: fmt.Sprintf("%s-%d", name, repeat), Case: name, Agent: "demo", Repeat: repeat, Verdict: v}
}

func TestCellsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	cost, score := 0.25, 0.5
	want := []eval.Cell{
		cell("one", 1, eval.Passed),
		{
			Key: "k", Case: "two\n| words", Agent: "demo", Repeat: 2, Seconds: 1.5, Verdict: eval.Failed, Reason: "output: it says \u2028 nothing", Trace: "cells/k/trace.jsonl",
			Graders:  []eval.Finding{{Grader: "output", Type: "output", Verdict: eval.Failed, Required: true, Decided: true, Score: &score, Reason: "it says nothing", Evidence: []string{"a"}}},
			Versions: eval.Versions{Tributary: "1", Agent: "codex 2", Model: "m"}, Usage: &eval.Tokens{Input: 3, Output: 4, CacheRead: 1}, CostUSD: &cost, Steps: 2, Calls: 1,
			Pass: &eval.Pass{MinRate: 0.5},
		},
	}
	var b bytes.Buffer
	for _, c := range want {
		if err := eval.WriteCell(&b, c); err != nil {
			t.Fatal(err)
		}
	}
	whole := int64(b.Len())
	b.WriteString(`{"key":"torn","case":"th`)
	got, n, err := eval.ReadCells("results.jsonl", &b)
	if err != nil || n != whole || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %d of %d bytes: %+v", err, n, whole, got)
	}
}

//evidence:for limit-eval-results
func TestLinesThatAreNoCells(t *testing.T) {
	t.Parallel()
	good := `{"key":"k","case":"c","agent":"a","repeat":1,"seconds":0,"verdict":"pass","versions":{},"steps":0,"calls":0}`
	for name, line := range map[string]string{
		"no JSON":             "pass",
		"something else":      `[1]`,
		"an unknown key":      strings.Replace(good, `"key"`, `"keys":1,"key"`, 1),
		"no verdict":          strings.Replace(good, `"pass"`, `"perhaps"`, 1),
		"no case":             strings.Replace(good, `"case":"c",`, "", 1),
		"two on a line":       good + good,
		"a trace elsewhere":   strings.Replace(good, `"steps"`, `"trace":"../../etc/passwd","steps"`, 1),
		"an absolute trace":   strings.Replace(good, `"steps"`, `"trace":"/etc/passwd","steps"`, 1),
		"a trace of a scheme": strings.Replace(good, `"steps"`, `"trace":"javascript:alert(1)","steps"`, 1),
		"a line too long":     strings.Repeat(" ", eval.MaxCellLine+1),
	} {
		_, _, err := eval.ReadCells("results.jsonl", strings.NewReader(good+"\n"+line+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "results.jsonl:2: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if cells, _, err := eval.ReadCells("results.jsonl", strings.NewReader(good+"\n\n"+good+"\n")); err != nil || len(cells) != 2 {
		t.Errorf("an empty line between: %v, %d cells", err, len(cells))
	}
	many := strings.Repeat(good+"\n", eval.MaxCells)
	if cells, _, err := eval.ReadCells("results.jsonl", strings.NewReader(many)); err != nil || len(cells) != eval.MaxCells {
		t.Errorf("as many as may be: %v, %d cells", err, len(cells))
	}
	if _, _, err := eval.ReadCells("results.jsonl", strings.NewReader(many+good+"\n")); err == nil || !strings.Contains(err.Error(), "more than 100000 results") {
		t.Errorf("one too many: %v", err)
	}
}

func TestTheNewestCellOfARepeatCounts(t *testing.T) {
	t.Parallel()
	again := cell("one", 1, eval.Passed)
	again.Key = "another key"
	got := eval.Newest([]eval.Cell{cell("one", 1, eval.Errored), cell("one", 2, eval.Failed), again})
	if want := []eval.Cell{again, cell("one", 2, eval.Failed)}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
