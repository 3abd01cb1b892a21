package otlptest

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/encoding/protowire"
)

// This file reads values, and writes the answer that takes a request in part.

type jsonValue struct {
	StringValue *string
	BoolValue   *bool
	IntValue    *int64 `json:",string"`
	DoubleValue *float64
	ArrayValue  *struct{ Values []jsonValue }
}

func (v jsonValue) any() any {
	switch {
	case v.StringValue != nil:
		return *v.StringValue
	case v.BoolValue != nil:
		return *v.BoolValue
	case v.IntValue != nil:
		return *v.IntValue
	case v.DoubleValue != nil:
		return *v.DoubleValue
	case v.ArrayValue != nil:
		list := []any{}
		for _, one := range v.ArrayValue.Values {
			list = append(list, one.any())
		}
		return list
	}
	return nil
}

func protoValue(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return v.BoolValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	case *commonpb.AnyValue_ArrayValue:
		list := []any{}
		for _, one := range v.ArrayValue.GetValues() {
			list = append(list, protoValue(one))
		}
		return list
	}
	return nil
}

// partial is ExportTraceServiceResponse. Its official message would bring all of gRPC with it.
func partial(rejected int, why string) []byte {
	inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(rejected)) //nolint:gosec // not negative
	inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), why)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
}
