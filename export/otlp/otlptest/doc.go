// Package otlptest has a receiver of OTLP by HTTP for tests, with the rules of Langfuse. It decodes
// with the official messages of OpenTelemetry, and knows nothing of the package that it tests.
package otlptest
