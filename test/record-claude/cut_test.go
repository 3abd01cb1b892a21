//go:build unix

package main

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	for _, tc := range []struct{ name, in, want string }{
		{
			"a catalogue", `{"type":"system","subtype":"init","skills":["a","b","c","d"],"tools":["a","b","c"]}`,
			`{"type":"system","subtype":"init","skills":["a","b","<2 more cut by the recorder>"],"tools":["a","b","c"]}`,
		},
		{"a short one stays", `{"type":"system","subtype":"init","skills":["a","b"]}`, `{"type":"system","subtype":"init","skills":["a","b"]}`},
		{
			"a description in a catalogue", `{"type":"control_response","response":{"models":[{"n":1.50,"d":"` + long + `"}],"other":"` + long + `"}}`,
			`{"type":"control_response","response":{"models":[{"n":1.50,"d":"` + strings.Repeat("é", 80) + `…<cut by the recorder>"}],"other":"` + long + `"}}`,
		},
		{
			"order and odd characters stay", `{"z":null,"type":"control_response","a":[true,"<&>\u2028"],"skills":[]}`,
			`{"z":null,"type":"control_response","a":[true,"<&>\u2028"],"skills":[]}`,
		},
		{"other lines are not touched", `{ "type":"assistant", "skills":["a","b","c"]}`, `{ "type":"assistant", "skills":["a","b","c"]}`},
		{"a line of the standard error", `"oops"`, `"oops"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := cut([]byte(tc.in))
			if err != nil || string(got) != tc.want {
				t.Errorf("cut = %s, %v\nwant  %s", got, err, tc.want)
			}
		})
	}
	if _, err := cut([]byte(`{"type":`)); err == nil {
		t.Error("half a line was accepted")
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	r := &room{
		claude: "/cache/agents/claude@1/node_modules/.bin/claude",
		base:   "/var/tmp/record-claude-42",
		url:    "http://127.0.0.1:55555",
	}
	in := `/var/tmp/record-claude-42/workspace/a /var/tmp/record-claude-42/home/.claude/projects/-var-tmp-record-claude-42-workspace ` +
		`/var/tmp/record-claude-42/tmp/x http://127.0.0.1:55555/v1 /cache/agents/claude@1/node_modules`
	want := `/workspace/a /home/agent/.claude/projects/-workspace /tmp/x http://127.0.0.1:4010/v1 /opt/agents/claude-code/node_modules`
	if got := string(r.scrub([]byte(in))); got != want {
		t.Errorf("scrub = %s\nwant    %s", got, want)
	}
}
