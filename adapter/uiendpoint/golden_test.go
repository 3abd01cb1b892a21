package uiendpoint_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/uistream"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	recordings, err := filepath.Glob("../../test/recordings/uiendpoint/*.sse")
	if err != nil || len(recordings) < 20 {
		t.Fatalf("%d recordings, %v", len(recordings), err)
	}
	for _, name := range recordings {
		recording := read(t, name)
		p := replaytest.Play(t, uiendpoint.NewDecoder(toolkind.Table{}), recording)
		if p.Skipped > 0 {
			t.Errorf("%s: %d messages were not understood: %v", name, p.Skipped, p.First)
		}
		replaytest.Golden(t, filepath.Join("testdata", "golden", strings.TrimSuffix(filepath.Base(name), ".sse")+".jsonl"), replaytest.Lines(t, p.Records))
	}
}

// A stream of any bytes gives well-formed turns, and every client can read what becomes of it.
func FuzzDecoder(f *testing.F) {
	for _, name := range []string{"everything", "ai5-weather", "ai6-pay", "ai7-unknown", "ai7-error"} {
		f.Add(string(read(f, "../../test/recordings/uiendpoint/"+name+".sse")))
	}
	f.Add("data: {\"type\":\"text-delta\",\"id\":1,\"delta\":null}\n\ndata: {\"type\":\"finish\"}\n\ndata: {\"type\":\"start\"}\n\n")
	f.Add("data: {\"type\":\"tool-input-delta\"}\n\ndata: {\"type\":\"reset-step\"}\n\ndata: {\"type\":\"ui-chunk\"}\n\ndata: {\"type\":\"data-ui-chunk\",\"data\":{\"type\":\"tool-approval-response\",\"approvalId\":\"x\"}}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		stream = "data: {\"type\":\"start\"}\n\n" + stream
		p := replaytest.Play(t, uiendpoint.NewDecoder(toolkind.Table{}), []byte(stream))
		for _, client := range []string{"", "5", "5.0.277", "6.0.323", "7.0.173"} {
			streamed(t, p.Records, client)
			profile, err := uistream.ParseProfile(client)
			if err != nil {
				t.Fatal(err)
			}
			for _, turn := range p.Turns {
				tr := uistream.NewTranslator(uistream.Options{Profile: profile})
				var r uistream.Reducer
				for _, record := range turn {
					for _, c := range tr.Translate(record) {
						if err := r.Add(c); err != nil {
							t.Fatalf("client %q: %v", client, err)
						}
					}
				}
			}
		}
		history(t, p.Records)
	})
}
