package reader_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

func TestOrdered(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	for range 2 {
		s.Turn(t.Context(), "go", trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}, func(b *trace.Builder) { b.Message("m", "well") })
	}
	whole := s.Records
	mixed := slices.Concat(whole, whole[2:5])
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	for name, records := range map[string][]trace.Record{"as it is": whole, "twice": slices.Concat(whole, whole), "mixed": mixed} {
		was := slices.Clone(records)
		if got, err := reader.Ordered(records); err != nil || !reflect.DeepEqual(got, whole) || !reflect.DeepEqual(was, records) {
			t.Errorf("%s: %v %d records of %d", name, err, len(got), len(whole))
		}
	}
	other := slices.Clone(whole)
	other[3].Payload = trace.Message{Part: "x", Text: "other"}
	after := append(slices.Clone(whole), whole[3])
	after[len(whole)].Seq = 100
	for want, records := range map[string][]trace.Record{"have the number 4": slices.Concat(whole, other), "which has stopped before": after} {
		if got, err := reader.Ordered(records); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s: %d", err, want, len(got))
		}
	}
}
