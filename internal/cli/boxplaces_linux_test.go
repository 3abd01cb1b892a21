package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

// An agent gives the directory above the data directory no other name. When somebody else has done so, what is in it stays closed to
// the next agent.
func TestADataDirectoryThatIsMovedStaysClosed(t *testing.T) {
	t.Parallel()
	if err := box.Available(box.Guard); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for _, sub := range []string{"share", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	conf := file(t, "tributary.yaml", "agents: {sh: {adapter: command, command: sh, cwd: "+filepath.Join(dir, "work")+", box: {form: guard, required: true}}}")
	s := startServer(t, filepath.Join(dir, "share", "data"), "--config", conf)
	for _, turn := range []struct{ session, prompt, want string }{
		{"moves", "mv ../share ../other || echo it stays", "it stays"},
		{"reads", "ls ../other/data; cat ../other/data/token; echo all was tried", "all was tried"},
	} {
		_, stream := s.do("POST", "/api/chat", chat(turn.session, turn.prompt))
		if !strings.Contains(stream, turn.want) || strings.Contains(stream, s.token) || strings.Contains(stream, "tributary.db") {
			t.Fatalf("%s: %s", turn.prompt, stream)
		}
		if turn.session == "moves" {
			if err := os.Rename(filepath.Join(dir, "share"), filepath.Join(dir, "other")); err != nil {
				t.Fatal(err)
			}
		}
	}
}
