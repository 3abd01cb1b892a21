// Package send sends spans to a receiver of OTLP by HTTP, such as Langfuse, Phoenix, MLflow or an
// OpenTelemetry collector.
//
// A receiver may refuse a whole request because of one span. So a request that was refused is
// divided until the span is alone; this span is dropped and counted, and all others arrive. What
// may pass by itself is tried again. Spans that were sent before are the same spans, so a request
// whose answer was lost does no harm.
package send
