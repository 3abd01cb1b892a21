// Package metrics measures what the gateway does with chat requests, and what its
// adapters count, for Prometheus.
//
// The names that begin with adapter_ are those of the RFC for the adapter, with
// underscores for its dots; rates and quantiles are not measured but worked out, by
// the recording rules in ops/. The label agent is the name of a configured agent, or
// [Elsewhere]: no stranger can make a new series.
package metrics
