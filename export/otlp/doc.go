// Package otlp writes turns as spans of OpenTelemetry, by its conventions for generative AI: one
// span for the turn, one for each call of a model, of a tool and of a sub-agent, and one for each
// permission and question.
//
// All ids and times come from the records, and nothing is kept from one turn to the next. So the
// same turn gives the same bytes, and a turn that is sent again is the same spans again. Encoders
// are the package's own: OTLP as JSON has hexadecimal ids, which the mapping of protobuf has not.
package otlp
