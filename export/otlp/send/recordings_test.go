package send_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/otlptest"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// tokens are what a turn used, and whether its records say that at all.
type tokens struct {
	input, output int64
	known         bool
}

// spent is what each turn used by its records: the larger of the turn's own figures, of which the
// newest for each model counts, and those of its steps.
func spent(records []trace.Record) map[string]tokens {
	steps, models, all := map[string]tokens{}, map[string]map[string]trace.Usage{}, map[string]tokens{}
	for _, r := range records {
		u, is := r.Payload.(trace.Usage)
		switch {
		case !is || r.Turn == "" || u.InputTokens|u.OutputTokens == 0:
		case u.Scope == trace.UsageStep:
			sum := steps[r.Turn]
			steps[r.Turn] = tokens{sum.input + u.InputTokens, sum.output + u.OutputTokens, true}
		case u.Scope == trace.UsageTurn:
			if models[r.Turn] == nil {
				models[r.Turn] = map[string]trace.Usage{}
			}
			models[r.Turn][u.Model] = u
		}
	}
	maps.Copy(all, steps)
	for turn, of := range models {
		var sum tokens
		for _, u := range of {
			sum.input, sum.output = sum.input+u.InputTokens, sum.output+u.OutputTokens
		}
		all[turn] = tokens{max(sum.input, all[turn].input), max(sum.output, all[turn].output), true}
	}
	return all
}

// Every recording of every adapter arrives as a whole, once, and with each token once.
//
//evidence:for ops-spans-once
func TestEveryRecordingArrives(t *testing.T) {
	t.Parallel()
	for path, records := range exporttest.Recorded(t, "../../../adapter") {
		r := &otlptest.Receiver{}
		s := sender(t, send.Config{Transport: r, Header: map[string][]string{"X-Langfuse-Ingestion-Version": {"4"}}})
		want, turnOf := map[string]bool{}, map[string]string{}
		for again := range 2 {
			for turn, err := range reader.Turns(exporttest.Durable(records)(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				requests, err := otlp.Turn(turn, otlp.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, request := range requests {
					for _, one := range request.Spans {
						want[fmt.Sprintf("%x %x", one.GetTraceId(), one.GetSpanId())] = true
						turnOf[fmt.Sprintf("%x", one.GetTraceId())] = turn.ID
					}
					if result, err := s.Send(t.Context(), request); err != nil || result.Dropped > 0 || result.Sent != len(request.Spans) {
						t.Fatalf("%s: %+v %v", path, result, err)
					}
				}
			}
			if got := r.Spans(); len(got) != len(want) {
				t.Errorf("%s: %d rows of %d spans after sending it %d times", path, len(got), len(want), again+1)
			}
		}
		for _, fault := range r.Faults() {
			t.Errorf("%s: %s", path, fault)
		}
		charged := map[string]tokens{}
		for _, one := range r.Spans() {
			in, _ := one.Attrs["gen_ai.usage.input_tokens"].(int64)
			out, _ := one.Attrs["gen_ai.usage.output_tokens"].(int64)
			if in|out != 0 && one.Attrs["gen_ai.operation.name"] != "chat" {
				t.Errorf("%s: tokens on %s", path, one.Name)
			}
			sum := charged[turnOf[one.Trace]]
			charged[turnOf[one.Trace]] = tokens{sum.input + in, sum.output + out, true}
		}
		stopped := slices.Collect(func(yield func(string) bool) {
			for _, r := range records {
				if _, is := r.Payload.(trace.Stop); is && !yield(r.Turn) {
					return
				}
			}
		})
		for turn, used := range spent(records) {
			if used.known && slices.Contains(stopped, turn) && charged[turn] != used {
				t.Errorf("%s: the turn %s used %+v, and %+v is on its spans", path, turn, used, charged[turn])
			}
		}
	}
}
