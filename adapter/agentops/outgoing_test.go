package agentops_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/trace"
)

func TestB11_AChannelIsAThreadOrAChannelOfItsType(t *testing.T) {
	for channel, want := range map[string][3]string{ // thread, type and id
		"":               {"thread-active", "", ""},
		"thread:abc":     {"abc", "", ""},
		"slack:C0123:17": {"", "slack", "C0123:17"},
		"slack-123":      {"", "web", "slack-123"},
		"thread:":        {"thread-active", "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			st := newStage(t, agentOpsServer)
			st.promptBy("hello", sender{who: "ada", channel: channel}).completes()
			f := st.server.received()[0]
			word := func(key string) string { v, _ := f[key].(string); return v }
			if got := [3]string{word("threadId"), word("channelType"), word("channelId")}; got != want {
				t.Errorf("%q is %q, want %q", channel, got, want)
			}
		})
	}
}

// A file that the server would drop silently is not sent, and its sender gets the reason.
//
//evidence:for limit-agent-ops-attachments
func TestAttachmentsThatAServerWouldDropAreReported(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many megabytes")
	}
	file := func(name, media, url string) trace.InputPart {
		return trace.InputPart{Type: trace.InputFile, Filename: name, MediaType: media, URL: url}
	}
	large := func(n int) string { return "data:image/png;base64," + strings.Repeat("A", n) }
	const png = "data:image/png;base64,iVBORw0KGgo="
	for _, c := range []struct {
		name  string
		files []trace.InputPart
		sent  int    // how many files
		want  string // the address of the first file, or the reason why no file is sent
	}{
		{"image", []trace.InputPart{file("a.png", "image/png", png)}, 1, png},
		{"image by its address alone", []trace.InputPart{file("a.png", "", png)}, 1, png},
		{"pdf", []trace.InputPart{file("a.pdf", "application/pdf", "data:application/pdf;base64,AA==")}, 1, "data:application/pdf;base64,AA=="},
		{"text", []trace.InputPart{file("a.txt", "text/plain", "data:text/plain,hello%20you")}, 0, "takes no text/plain"},
		{"not in base64", []trace.InputPart{file("a.svg", "image/svg+xml", "data:image/svg+xml,%3Csvg/%3E")}, 1, "data:image/svg+xml;base64,PHN2Zy8+"},
		{"with a parameter", []trace.InputPart{file("", "image/svg+xml", "data:image/svg+xml;charset=utf-8;base64,PHN2Zy8+")}, 1, "data:image/svg+xml;base64,PHN2Zy8+"},
		{"broken", []trace.InputPart{file("a.svg", "image/svg+xml", "data:image/svg+xml,%zz")}, 0, "cannot be read"},
		{"an address", []trace.InputPart{file("a.png", "image/png", "https://example.com/a.png")}, 0, "takes no addresses"},
		{"no comma", []trace.InputPart{file("a.png", "image/png", "data:image/png")}, 0, "takes no addresses"},
		{"too large", []trace.InputPart{file("a.png", "image/png", large(90_000_000))}, 0, "larger than"},
		{"too large together", []trace.InputPart{file("a.png", "image/png", png), file("b.png", "image/png", large(90_000_000-25))}, 1, "together"},
	} {
		synctest.Test(t, func(t *testing.T) {
			st := newStage(t, agentOpsServer)
			stop, events := st.promptBy("hello", sender{who: "ada"}, c.files...).end()
			files, _ := st.server.received()[0]["attachments"].([]any)
			got := ""
			for _, e := range agenttest.Each[trace.Error](events) {
				got += e.Message
			}
			if c.sent > 0 && len(files) > 0 && c.sent == len(c.files) {
				got, _ = files[0].(object)["url"].(string)
			}
			if stop.Outcome != trace.OutcomeCompleted || len(files) != c.sent || !strings.Contains(got, c.want) {
				t.Errorf("%s: %d files are sent, %.100q, want %q (%+v)", c.name, len(files), got, c.want, stop)
			}
		})
	}
}

// What an agent on a server would take for a mention of a file is taken apart as everywhere.
//
//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutsideInAnyField(t *testing.T) {
	d := permissiontest.Workspace(t)
	pictures := permissiontest.MentioningParts(d)
	for i := range pictures {
		if pictures[i].Type == trace.InputFile && i%4 > 0 {
			pictures[i].MediaType, pictures[i].URL = "image/png", "data:image/png;base64,iVBORw0KGgo="
		}
	}
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, agentOpsServer)
		st.host.Dir = d
		st.promptBy("hello", sender{who: "ada"}, pictures...).end()
		frame := st.server.received()[0]
		if files, _ := frame["attachments"].([]any); len(files) < 100 {
			t.Errorf("%d files are sent", len(files))
		}
		sent, err := json.Marshal(frame)
		if err != nil {
			t.Fatal(err)
		}
		permissiontest.CheckSent(t, sent)
	})
}
