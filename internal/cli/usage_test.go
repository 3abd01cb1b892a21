package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// usagesOf are the counts that an adapter reads from a recording.
func usagesOf(t *testing.T, adapter, recording string) (all []trace.Usage) {
	t.Helper()
	for line := range strings.Lines(command(t, recording, "convert", "--from", adapter, "--to", "trace", "-").out) {
		var r trace.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if u, is := r.Payload.(trace.Usage); is {
			all = append(all, u)
		}
	}
	return all
}

func TestInputTokensIncludeCachedInputWhateverTheAgentCounts(t *testing.T) {
	t.Parallel()
	const agui = `{"inputTokens":5,"outputTokens":2,"totalTokens":7}`
	for _, c := range []struct{ adapter, file, old, new, want string }{
		{"claude", "plain.jsonl", `"input_tokens":100`, `"input_tokens":3`, "33/11, cache 20 read 10 written"},
		{"codex", "app-server-plain.jsonl", `"cachedInputTokens":0`, `"cachedInputTokens":60`, "100/17, cache 60 read 0 written"},
		{"opencode", "plain.jsonl", `"cache":{"write":0,"read":0}`, `"cache":{"write":7,"read":60}`, "167/17, cache 60 read 7 written"},
		{"acp", "claude-plain.jsonl", `"cachedReadTokens":0,"cachedWriteTokens":0,"totalTokens":117`, `"cachedReadTokens":60,"cachedWriteTokens":3,"totalTokens":180`, "163/17, cache 60 read 3 written"},
		{"acp", "claude-plain.jsonl", `"cachedReadTokens":0`, `"cachedReadTokens":60`, "100/17, cache 60 read 0 written"},
		{"langgraph", "hello-multi.sse", `"total_tokens":12}`, `"total_tokens":12,"input_token_details":{"cache_read":4,"cache_creation":2}}`, "7/5, cache 4 read 2 written"},
		{"langgraph", "hello-multi.sse", `"total_tokens":12}`, `"total_tokens":12,"input_token_details":{"cache_read":600}}`, "607/5, cache 600 read 0 written"},
		{"agui", "tanstack-text.jsonl", agui, `{"inputTokens":5,"outputTokens":2,"totalTokens":7,"cachedInputTokens":4}`, "5/2, cache 4 read 0 written"},
		{"agui", "tanstack-text.jsonl", agui, `{"inputTokens":5,"outputTokens":2,"totalTokens":12,"cachedInputTokens":4,"cacheWriteInputTokens":1}`, "10/2, cache 4 read 1 written"},
		{"openharness", "thinking-tool-text.jsonl", "", "", "2104/188, cache 900 read 0 written"},
	} {
		t.Run(c.adapter+" "+c.want, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("..", "..", "test", "recordings", c.adapter, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), c.old) {
				t.Fatalf("%s has no %s", c.file, c.old)
			}
			all := usagesOf(t, c.adapter, strings.ReplaceAll(string(data), c.old, c.new))
			if len(all) == 0 {
				t.Fatal("there is no usage")
			}
			u := all[0]
			if got := fmt.Sprintf("%d/%d, cache %d read %d written", u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens); got != c.want {
				t.Errorf("the usage is %s, want %s", got, c.want)
			}
		})
	}
}

func TestInEveryRecordingCachedTokensAreAPartOfTheInput(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it converts every recording")
	}
	read := 0
	for _, kind := range builtIn() {
		if kind.Decoder == nil {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "..", "test", "recordings", kind.Name, "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			read++
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range usagesOf(t, kind.Name, string(data)) {
				if u.CacheReadTokens+u.CacheWriteTokens > u.InputTokens || u.ReasoningTokens > u.OutputTokens {
					t.Errorf("%s: a part is more than the whole: %+v", file, u)
				}
			}
		}
	}
	if read < 100 {
		t.Errorf("only %d recordings were found", read)
	}
}
