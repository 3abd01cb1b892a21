package trace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

func TestUsageAddsUpAndACostOnlyWhereItIsKnown(t *testing.T) {
	t.Parallel()
	one, two := 1.0, 2.0
	first := trace.Usage{Scope: trace.UsageTurn, InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5}
	second := trace.Usage{Scope: trace.UsageStep, InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 40, ReasoningTokens: 50, CostUSD: &one, Model: "m"}
	want := trace.Usage{Scope: trace.UsageTurn, InputTokens: 11, OutputTokens: 22, CacheReadTokens: 33, CacheWriteTokens: 44, ReasoningTokens: 55, CostUSD: &one}
	sum := first.Plus(second)
	if d := cmp.Diff(want, sum); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if again := sum.Plus(trace.Usage{CostUSD: &one}); *again.CostUSD != two || *sum.CostUSD != one {
		t.Errorf("the costs are %v and %v", *again.CostUSD, *sum.CostUSD)
	}
}
