package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// SettingsTool is the raw name of the call by which the settings files of a workspace are decided.
const SettingsTool = "workspace_settings"

// mostSettingsRounds bounds how often one start of an agent asks, because files have changed meanwhile.
const mostSettingsRounds = 5

// decideSettings returns the Runtime that opens the agent of a turn. The policy or a person decides about settings files of the
// workspace, and decides again if the files have changed meanwhile. If they are not allowed, the agent leaves them out. One that
// cannot is not opened.
func (t *turn) decideSettings(r agent.Runtime, dir workspace.Dir) (agent.Runtime, error) {
	reader, is := r.(agent.SettingsReader)
	if !is {
		return r, nil
	}
	find := func() []agent.FoundSettings { return agent.FindSettings(reader.SettingsFiles(), dir) }
	without, no := reader.WithoutSettings(), "Work without them"
	if without == nil {
		no = "End the turn"
	}
	found := find()
	for range mostSettingsRounds {
		if len(found) == 0 {
			return r, nil
		}
		input, _ := json.Marshal(map[string]any{"workspace": dir.Path(), "files": found}) // strings are always JSON
		var paths []string
		for _, f := range found {
			paths = append(paths, f.Path)
		}
		names := strings.Join(paths, ", ")
		allowed := t.askAbout(SettingsTool, "Use settings of the workspace: "+names, input, "Allow until the agent ends", no)
		if t.ctx.Err() != nil {
			return nil, context.Cause(t.ctx)
		}
		if !allowed && without == nil {
			return nil, fmt.Errorf("the settings of the workspace were not allowed, and this agent cannot work without them: remove %s, or send the message again and allow them", names)
		}
		if !allowed {
			t.builder.Emit(trace.Notice("settings_left_out", "The agent works without the settings of its workspace: "+names+"."))
			return without, nil
		}
		decided := found
		if found = find(); slices.EqualFunc(found, decided, agent.FoundSettings.Same) {
			return r, nil
		}
	}
	return nil, errors.New("the settings of the workspace change again and again while they are decided: send the message again")
}
