package otlp

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file reads what receivers answer.

// Answer is what a receiver says of a request. It has the spans that the receiver did not take of a
// request that it took, and its words on them; or its words on a request that it refused.
type Answer struct {
	Rejected int64
	Message  string
}

// ReadAnswer reads the answer to a request that the receiver took: ExportTraceServiceResponse, as
// JSON or as protobuf.
func ReadAnswer(body []byte, asJSON bool) (a Answer, err error) {
	if asJSON {
		var in struct {
			PartialSuccess struct {
				RejectedSpans json.Number `json:"rejectedSpans"` // a number, or one in quotation marks
				ErrorMessage  string      `json:"errorMessage"`
			} `json:"partialSuccess"`
		}
		if err := json.Unmarshal(body, &in); err != nil {
			return a, fmt.Errorf("read the answer as JSON: %w", err)
		}
		a.Rejected, _ = in.PartialSuccess.RejectedSpans.Int64() // none is none
		a.Message = in.PartialSuccess.ErrorMessage
		return a, nil
	}
	err = fields(body, func(field protowire.Number, _ uint64, partial []byte) error {
		if field != 1 {
			return nil
		}
		return fields(partial, func(field protowire.Number, n uint64, text []byte) error {
			if field == 1 {
				a.Rejected = int64(n) //nolint:gosec // as protobuf has it
			}
			if field == 2 {
				a.Message = string(text)
			}
			return nil
		})
	})
	return a, err
}

// ReadStatus reads the answer to a request that the receiver refused: google.rpc.Status as protobuf.
func ReadStatus(body []byte) (a Answer, err error) {
	err = fields(body, func(field protowire.Number, _ uint64, text []byte) error {
		if field == 2 {
			a.Message = string(text)
		}
		return nil
	})
	return a, err
}

// fields calls one for each field of a message that is a number or has bytes.
func fields(message []byte, one func(field protowire.Number, n uint64, content []byte) error) error {
	for len(message) > 0 {
		field, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return fmt.Errorf("read the answer as protobuf: %w", protowire.ParseError(size))
		}
		message = message[size:]
		var n uint64
		var content []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			content, size = protowire.ConsumeBytes(message)
		default:
			size = protowire.ConsumeFieldValue(field, kind, message)
		}
		if size < 0 {
			return fmt.Errorf("read the answer as protobuf: %w", protowire.ParseError(size))
		}
		if err := one(field, n, content); err != nil {
			return err
		}
		message = message[size:]
	}
	return nil
}
