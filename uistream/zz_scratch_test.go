package uistream_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/tributary-dev/tributary/uistream"
	"pgregory.net/rapid"
)

func TestScratchDump(t *testing.T) {
	dir := os.Getenv("SCRATCH")
	if dir == "" {
		t.Skip()
	}
	n := 0
	os.MkdirAll(dir, 0o755)
	rapid.Check(t, func(t *rapid.T) {
		records := drawTurn(t)
		client := rapid.SampledFrom([]string{"", "5", "7", "5.0.277", "6.0.323", "7.0.173"}).Draw(t, "cl")
		p, _ := uistream.ParseProfile(client)
		o := uistream.Options{Profile: p, Subagents: uistream.Subagents(rapid.IntRange(0, 2).Draw(t, "subagents")), Signatures: rapid.Bool().Draw(t, "sig")}
		chunks := translate(o, records)
		for len(chunks) > 0 {
			k := 1
			for k < len(chunks) {
				if _, ok := chunks[k].(uistream.Start); ok {
					break
				}
				k++
			}
			m, _ := uistream.Reduce(chunks[:k])
			var out []byte
			for _, c := range chunks[:k] {
				out = append(out, "data: "...)
				out = uistream.AppendChunk(out, c)
				out = append(out, "\n\n"...)
			}
			n++
			base := fmt.Sprintf("%s/%05d", dir, n)
			os.WriteFile(base+".sse", append(out, "data: [DONE]\n\n"...), 0o644)
			os.WriteFile(base+".json", []byte(asJSON(map[string]any{"client": client, "message": m})), 0o644)
			chunks = chunks[k:]
		}
	})
}
