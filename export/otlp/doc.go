// Package otlp writes turns as spans of OpenTelemetry, by its conventions for generative AI. The turn
// has a span, and so has each call of a model, of a tool and of a sub-agent, each permission and each
// question.
//
// All ids and times come from the records, and nothing is kept from one turn to the next. So the
// same turn gives the same bytes, and a turn that is sent again is the same spans again. The
// messages are OpenTelemetry's own.
package otlp
