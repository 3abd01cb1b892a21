package agenttest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// Way is a way by which an agent may act without asking, such as a rule in its settings. In
// texts of a way and of its files, WORK is the workspace, HOME the user's home, and ELSE another
// directory. A file whose text is "-> PATH" is a link.
type Way struct {
	// Name is the way, for the table.
	Name string
	// Prompt makes the agent act; "" looks once more at the turn before.
	Prompt string
	// Mark is a file of the workspace that is there if the agent has acted. With a leading > it
	// is a word in the output of a call, or in a text, in which the model quotes the output: some
	// agents show none.
	Mark string
	// Program says that no call is needed, because a program runs by itself.
	Program bool
	// Lets is what the person allows, so that the way begins: a beginning of the request's title.
	Lets string
	// Slow says that the person takes slowAnswer, so that another may answer first.
	Slow bool
}

const slowAnswer = 10 * time.Second

// LetsSettings has the person allow the settings files of the workspace, if a way Lets it.
const LetsSettings = "Use settings of the workspace"

// Ways puts the files into their places and plays the ways in one session. The person denies
// what they are asked, also whether settings files of the workspace count. It returns a line of a table for each way. Open opens
// a session with the Runtime, as it is then.
func Ways(t testing.TB, dir, home string, files map[string]string, ways []Way, runtime agent.Runtime, open func(agent.Runtime, agent.Host) agent.Session) (lines []string) {
	t.Helper()
	place := strings.NewReplacer("WORK", dir, "HOME", home, "ELSE", t.TempDir())
	for name, text := range files {
		name = place.Replace(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			if err := os.Symlink(place.Replace(target), name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(name, []byte(place.Replace(text)), 0o700); err != nil { //nolint:gosec // some are programs
			t.Fatal(err)
		}
	}
	var now Way
	host := NewHost()
	host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
		if now.Slow {
			select {
			case <-ctx.Done():
			case <-time.After(slowAnswer):
			}
		}
		answer := trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.RejectOnce, By: "tester"}
		if now.Lets != "" && strings.HasPrefix(r.Title, now.Lets) {
			answer.OptionKind = trace.AllowOnce
		}
		for _, o := range r.Options {
			if o.OptionKind == answer.OptionKind {
				answer.ChosenOption = o.ID
			}
		}
		return answer
	}
	denied := false
	if r, is := runtime.(agent.SettingsReader); is {
		within, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer within.Close()
		lets := slices.ContainsFunc(ways, func(w Way) bool { return w.Lets == LetsSettings })
		if denied = !lets && len(agent.FindSettings(r.SettingsFiles(), within)) > 0; denied {
			runtime = r.WithoutSettings()
		}
	}
	if runtime == nil { // no turn runs
		for _, w := range ways {
			lines = append(lines, "| "+w.Name+" | asks |\n")
		}
		return lines
	}
	session := open(runtime, host)
	var said string
	asked := 0
	for _, w := range ways {
		if w.Prompt != "" {
			now = w
			events, _ := Turn(t, session, host, Prompt(place.Replace(w.Prompt)))
			results, err := json.Marshal(Each[trace.ToolResult](events))
			if err != nil {
				t.Fatal(err)
			}
			said, asked = string(results)+Said(events), 0
			for _, r := range Each[trace.PermissionResponse](events) {
				if r.By == "tester" {
					asked++
				}
			}
		}
		_, err := os.Stat(filepath.Join(dir, w.Mark))
		acted := err == nil
		if word, ok := strings.CutPrefix(w.Mark, ">"); ok {
			acted = strings.Contains(said, word)
		}
		outcome := "never"
		switch {
		case acted:
			outcome = "**open**"
		case asked > 0 && !w.Program, denied && w.Program:
			outcome = "asks"
		}
		lines = append(lines, "| "+w.Name+" | "+outcome+" |\n")
	}
	return lines
}
