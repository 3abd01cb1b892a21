package uistream_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
)

func TestAMessageIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"id":"m","role":"user","parts":[{"type":"text","text":"hi"},{"type":"file","mediaType":"text/plain","url":"data:,x","filename":"x.txt"}]}`,
		`{"id":"m","role":"assistant","metadata":{"n":1},"parts":[{"type":"step-start"},{"type":"reasoning","id":"r","text":"hm","state":"done","providerMetadata":{"a":1}},` +
			`{"type":"tool-pay","toolCallId":"c","state":"approval-responded","input":{"n":1},"title":"Pay","approval":{"id":"a","approved":false,"reason":"no","signature":"s"}},` +
			`{"type":"dynamic-tool","toolName":"mcp","toolCallId":"d","state":"output-error","input":null,"errorText":"no","providerExecuted":true,"callProviderMetadata":{"b":2}},` +
			`{"type":"dynamic-tool","toolName":"mcp","toolCallId":"e","state":"output-available","input":1,"output":[2],"preliminary":true},` +
			`{"type":"source-url","sourceId":"s","url":"https://a.test","title":"A"},{"type":"source-document","sourceId":"s","mediaType":"text/plain","title":"A","filename":"f"},` +
			`{"type":"data-x","id":"1","data":{"y":null}}]}`,
	} {
		var m uistream.Message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if got := string(m.AppendJSON(nil)); got != text {
			t.Errorf("got\n%s, want\n%s", got, text)
		}
	}
	for _, bad := range []string{`[]`, `{"parts":{}}`, `{"parts":[null]}`, `{"parts":[1]}`} {
		if err := json.Unmarshal([]byte(bad), &uistream.Message{}); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
