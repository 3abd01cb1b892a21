package realagent

// Key is the dummy API key of closed runs.
const Key = "sk-test"

// ClosedEnv returns the environment in which an agent sees nothing of the
// user's: no settings, no keys, only the system's own commands.
func ClosedEnv(home, tmp string) []string {
	return []string{
		"HOME=" + home,
		"TMPDIR=" + tmp,
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8",
		"TERM=dumb",
		"SHELL=/bin/sh",
	}
}

// ClaudeEnv returns ClosedEnv with what Claude Code needs to talk to the model
// at modelURL and to nobody else, and to give up after one retry.
func ClaudeEnv(home, tmp, modelURL string) []string {
	return append(ClosedEnv(home, tmp),
		"CLAUDE_CONFIG_DIR="+home+"/.claude",
		"ANTHROPIC_BASE_URL="+modelURL,
		"ANTHROPIC_API_KEY="+Key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_MAX_RETRIES=1",
	)
}
