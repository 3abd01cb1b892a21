package codex

import "fmt"

// moderation says how Codex shows an answer: `show`, `hide` or `block`, as version 0.171.0 has it in the
// schema of its app-server (AgentMessageModeration).
type moderation struct {
	Display struct {
		Mode        string
		Replacement struct{ Kind string }
		Reason      struct{ Kind, ProtectionType string }
	}
}

// instead is the sentence in the place of an answer that Codex does not show; "" for an answer that it shows.
func (m moderation) instead() string {
	switch d := m.Display; {
	case d.Mode == "hide" && d.Replacement.Kind == "wellbeingPromptHelpline":
		return "Codex hides this answer, and names a helpline in its place: if you think of hurting yourself, call the emergency number or a helpline of your country."
	case d.Mode == "hide":
		return "Codex hides this answer."
	case d.Mode == "block" && d.Reason.ProtectionType != "":
		return fmt.Sprintf("Codex has blocked this answer (%s).", d.Reason.ProtectionType)
	case d.Mode == "block" && d.Reason.Kind != "":
		return fmt.Sprintf("Codex has blocked this answer (%s).", d.Reason.Kind)
	case d.Mode == "block":
		return "Codex has blocked this answer."
	}
	return ""
}
