package main

import "context"

// systemTrials are the rows that need Linux.
func (b *bench) systemTrials(n sizes) []trial {
	return []trial{
		{"full", "disk full under load, and room again", n.full > 0, func(ctx context.Context, t *results) error { return b.full(ctx, n.full, t) }},
		{"read-only", "database read-only under load, and not again", n.full > 0, func(ctx context.Context, t *results) error { return b.unwritable(ctx, n.full, t) }},
		{"sleeps", "SIGSTOP beyond the lease, PostgreSQL", n.sleeps > 0, func(ctx context.Context, t *results) error { return b.sleeps(ctx, n.sleeps, t) }},
		{"interruptions", "three gateways, one paused or cut off", n.interruptions > 0, func(ctx context.Context, t *results) error {
			return b.interruptions(ctx, n.interruptions, n.longest, t)
		}},
		{"stops", "SIGSTOP of the gateway, and SIGCONT", len(n.stops) > 0, func(ctx context.Context, t *results) error { return b.stops(ctx, n.stops, t) }},
	}
}
