// Package metrics measures what the gateway does with chat requests, and what its
// adapters count, for Prometheus.
//
// Names follow the conventions of Prometheus. Rates, quantiles and the names of the RFC for
// the adapter come from the recording rules in deploy/ops/. The label agent is the name of a
// configured agent, or [Elsewhere], so that no stranger can make a new series.
package metrics
