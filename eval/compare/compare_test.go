package compare_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/compare"
)

func near(a, b float64) bool { return math.Abs(a-b) < 0.00006 }

// The figures are those of Newcombe's two articles of 1998.
func TestIntervalsOfThePublishedExamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		passed, n int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {29, 29, 0.8830, 1}} {
		if in := compare.Wilson(c.passed, c.n); !near(in.Low, c.low) || !near(in.High, c.high) {
			t.Errorf("%d of %d: %+v", c.passed, c.n, in)
		}
	}
	for _, c := range []struct {
		a, n, b, m int
		low, high  float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.1705, 0.8090},
		{6, 7, 2, 7, 0.0582, 0.8062},
		{5, 56, 0, 29, -0.0381, 0.1926},
		{0, 10, 0, 20, -0.1611, 0.2775},
		{0, 10, 0, 10, -0.2775, 0.2775},
		{10, 10, 0, 20, 0.6791, 1},
		{10, 10, 0, 10, 0.6075, 1},
	} {
		if _, in := compare.Difference(c.b, c.m, c.a, c.n); !near(in.Low, c.low) || !near(in.High, c.high) {
			t.Errorf("%d of %d less %d of %d: %+v", c.a, c.n, c.b, c.m, in)
		}
	}
}

func TestIntervalsHoldWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 500).Draw(t, "n"), rapid.IntRange(1, 500).Draw(t, "m")
		a, b := rapid.IntRange(0, n).Draw(t, "a"), rapid.IntRange(0, m).Draw(t, "b")
		d, in := compare.Difference(a, n, b, m)
		back, mirror := compare.Difference(b, m, a, n)
		if !(in.Low <= d+1e-9 && d <= in.High+1e-9 && in.Low >= -1 && in.High <= 1) || !near(back, -d) || !near(mirror.Low, -in.High) {
			t.Fatalf("%d/%d to %d/%d: %v in %+v, back %v in %+v", a, n, b, m, d, in, back, mirror)
		}
	})
}

// runs are cells of a case with an agent of which some passed, and some had errors.
func runs(name, agent string, pass, fail, errors int) (cells []eval.Cell) {
	for i := range pass + fail + errors {
		c := eval.Cell{Key: "k", Case: name, Agent: agent, Repeat: i + 1, Verdict: eval.Passed, Seconds: float64(10 * (i + 1)), Versions: eval.Versions{Tributary: "1", Model: "m"}}
		switch {
		case i >= pass+fail:
			c.Verdict, c.Reason = eval.Errored, "it broke"
		case i >= pass:
			c.Verdict, c.Reason = eval.Failed, "it is wrong"
		}
		cells = append(cells, c)
	}
	return cells
}

func all(groups ...[]eval.Cell) []compare.Summary {
	var cells []eval.Cell
	for _, g := range groups {
		cells = append(cells, g...)
	}
	return compare.Summarize(cells)
}

func TestWhatADropIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		old, now []compare.Summary
		drop     float64
		finding  compare.Finding // of the first case
		row      bool            // its drop is too much
		total    bool            // that of the agent is
	}{
		"the same":                     {all(runs("a", "x", 3, 0, 0)), all(runs("a", "x", 3, 0, 0)), 0, compare.Unshown, false, false},
		"all gone":                     {all(runs("a", "x", 3, 0, 0)), all(runs("a", "x", 0, 3, 0)), 0.05, compare.Worse, true, true},
		"all there":                    {all(runs("a", "x", 0, 3, 0)), all(runs("a", "x", 3, 0, 0)), 0.05, compare.Better, false, false},
		"two of ten":                   {all(runs("a", "x", 10, 0, 0)), all(runs("a", "x", 8, 2, 0)), 0.05, compare.Unshown, false, true},
		"as much as is allowed":        {all(runs("a", "x", 10, 0, 0)), all(runs("a", "x", 8, 2, 0)), 0.2, compare.Unshown, false, false},
		"shown, and allowed":           {all(runs("a", "x", 100, 0, 0)), all(runs("a", "x", 90, 10, 0)), 0.1, compare.Worse, false, false},
		"one case among many":          {all(runs("a", "x", 9, 0, 0), runs("b", "x", 1, 0, 0), runs("c", "x", 1, 0, 0), runs("d", "x", 1, 0, 0)), all(runs("a", "x", 0, 9, 0), runs("b", "x", 1, 0, 0), runs("c", "x", 1, 0, 0), runs("d", "x", 1, 0, 0)), 0.3, compare.Worse, true, false},
		"others that got better":       {all(runs("a", "x", 9, 0, 0), runs("b", "x", 0, 9, 0)), all(runs("a", "x", 0, 9, 0), runs("b", "x", 9, 0, 0)), 0.05, compare.Worse, true, false},
		"repeats are no weight":        {all(runs("a", "x", 1, 0, 0), runs("b", "x", 50, 50, 0)), all(runs("a", "x", 0, 1, 0), runs("b", "x", 55, 45, 0)), 0.05, compare.Unshown, false, true},
		"errors are in no rate":        {all(runs("a", "x", 3, 0, 0)), all(runs("a", "x", 3, 0, 9)), 0, compare.Unshown, false, false},
		"of another agent":             {all(runs("a", "x", 3, 0, 0), runs("a", "y", 3, 0, 0)), all(runs("a", "x", 3, 0, 0), runs("a", "y", 0, 3, 0)), 0.05, compare.Unshown, false, false},
		"a case that is not there now": {all(runs("a", "x", 3, 0, 0), runs("b", "x", 3, 0, 0)), all(runs("a", "x", 3, 0, 0)), 0.05, compare.Unshown, false, false},
	} {
		got := compare.Compare(c.old, c.now, c.drop)
		r, total := got.Cases[0], got.Agents[0]
		if r.Finding != c.finding || r.Dropped != c.row || total.Dropped != c.total {
			t.Errorf("%s: %+v\n\t%+v", name, r, total)
		}
		if want := c.row || c.total || name == "of another agent"; got.Dropped != want {
			t.Errorf("%s: dropped is %t", name, got.Dropped)
		}
	}
	one := compare.Compare(all(runs("a", "x", 7, 3, 0)), all(runs("a", "x", 4, 6, 0)), 0)
	if a, b := one.Cases[0].Change.Interval, one.Agents[0].Change.Interval; !near(a.Low, b.Low) || !near(a.High, b.High) {
		t.Errorf("the mean of one case has another interval: %+v, %+v", a, b)
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	t.Parallel()
	newer := runs("a", "x", 2, 0, 1)
	for i := range newer {
		newer[i].Versions.Model = "n"
	}
	got := compare.Compare(
		all(runs("a", "x", 2, 0, 0), runs("b", "x", 1, 0, 0), runs("c", "x", 0, 0, 2), runs("e", "y", 1, 0, 0)),
		all(newer, runs("b", "x", 0, 0, 1), runs("c", "x", 0, 0, 1), runs("d", "x", 1, 0, 0), runs("e", "y", 1, 0, 0)), 0.05)
	if len(got.Cases) != 2 || got.Cases[0].New.Errors != 1 || got.Cases[0].New.N != 2 || len(got.Agents) != 2 || got.Agents[0].Cases != 1 {
		t.Errorf("%+v", got)
	}
	if want := []compare.Place{{Case: "b", Agent: "x", Old: 1, NewErrors: 1}}; !reflect.DeepEqual(got.OnlyOld, want) {
		t.Errorf("%+v", got.OnlyOld)
	}
	if want := []compare.Place{{Case: "d", Agent: "x", New: 1}}; !reflect.DeepEqual(got.OnlyNew, want) {
		t.Errorf("%+v", got.OnlyNew)
	}
	if want := []compare.Place{{Case: "c", Agent: "x", OldErrors: 2, NewErrors: 1}}; !reflect.DeepEqual(got.Neither, want) {
		t.Errorf("%+v", got.Neither)
	}
	if len(got.Versions) != 1 || got.Versions[0].Agent != "x" || got.Versions[0].Old[0].Model != "m" || got.Versions[0].New[0].Model != "n" {
		t.Errorf("%+v", got.Versions)
	}
}

// A run that was repeated counts once, as it ended at last.
func TestTheNewestResultOfARepeatCounts(t *testing.T) {
	t.Parallel()
	again := runs("a", "x", 1, 0, 0)
	again[0].Seconds = 50
	if got := all(runs("a", "x", 0, 0, 1), again); len(got) != 1 || got[0].Pass != 1 || got[0].Error != 0 || *got[0].Seconds != 50 {
		t.Errorf("%+v", got)
	}
	if got := all(runs("a", "x", 1, 0, 0), again); got[0].Pass != 1 || *got[0].Seconds != 50 {
		t.Errorf("%+v", got)
	}
}

func TestWhatRunsTook(t *testing.T) {
	t.Parallel()
	told := func(tokens ...int64) []compare.Summary {
		cells := runs("a", "x", len(tokens), 0, 0)
		for i, n := range tokens {
			cost := float64(n) / 1000
			cells[i].Usage, cells[i].CostUSD, cells[i].Partly = &eval.Tokens{Input: n / 2, Output: n - n/2}, &cost, n == 7
			if n == 0 {
				cells[i].Usage = nil
			}
		}
		return all(cells)
	}
	r := compare.Compare(told(100, 900, 200, 7), told(300, 500), 0).Cases[0]
	if r.Tokens == nil || *r.Tokens != 2 || r.CostUSD == nil || !near(*r.CostUSD, 2) || r.Seconds == nil || *r.Seconds != 15.0/25 {
		t.Errorf("%+v", r)
	}
	if r := compare.Compare(told(100), told(0), 0).Cases[0]; r.Tokens != nil {
		t.Errorf("%+v", r)
	}
	if r := compare.Compare(told(0), told(100), 0).Cases[0]; r.Tokens != nil || r.CostUSD != nil {
		t.Errorf("%+v", r)
	}
}

func TestABaselineIsSmallAndSaysTheSame(t *testing.T) {
	t.Parallel()
	groups := [][]eval.Cell{runs("b | c", "x", 2, 1, 1), runs("a", "y", 1, 0, 0), runs("a", "x", 3, 0, 0)}
	write := func(groups ...[]eval.Cell) string {
		var b bytes.Buffer
		if err := compare.WriteBaseline(&b, all(groups...)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := write(groups...)
	want := `{"tributary_eval_baseline":1}
{"case":"a","agent":"x","pass":3,"fail":0,"error":0,"skipped":0,"versions":[{"tributary":"1","model":"m"}]}
{"case":"a","agent":"y","pass":1,"fail":0,"error":0,"skipped":0,"versions":[{"tributary":"1","model":"m"}]}
{"case":"b | c","agent":"x","pass":2,"fail":1,"error":1,"skipped":0,"versions":[{"tributary":"1","model":"m"}]}
`
	if text != want || write(groups[2], groups[0], groups[1]) != want {
		t.Errorf("%s", text)
	}
	read, err := compare.Read("base.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := compare.Compare(read, all(groups...), 0)
	if len(c.Cases) != 3 || c.Dropped || len(c.Versions) != 0 || len(c.OnlyOld)+len(c.OnlyNew)+len(c.Neither) != 0 || c.Cases[0].Seconds != nil {
		t.Errorf("%+v", c)
	}
	head, line, _ := strings.Cut(want, "\n")
	line, _, _ = strings.Cut(line, "\n")
	for _, bad := range []string{"x", line + line, line + "\n" + line, strings.Replace(line, `"pass":3`, `"pass":-3`, 1), strings.Replace(line, `"pass":3`, `"pass":3000000000`, 1), strings.Replace(line, `"case":"a",`, "", 1), strings.Replace(line, "skipped", "skiped", 1)} {
		if _, err := compare.Read("base.jsonl", strings.NewReader(head+"\n"+bad+"\n")); err == nil || !strings.HasPrefix(err.Error(), "base.jsonl:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := compare.Read("base.jsonl", strings.NewReader("no results\n")); err == nil || !strings.Contains(err.Error(), "base.jsonl:1: this is no result of") {
		t.Error(err)
	}
	var lines bytes.Buffer
	for _, c := range groups[0] {
		if err := eval.WriteCell(&lines, c); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := compare.Read("results.jsonl", &lines); err != nil || fmt.Sprint(got[0].Pass, got[0].Fail, got[0].Error, *got[0].Seconds) != "2 1 1 20" {
		t.Errorf("%+v %v", got, err)
	}
}
