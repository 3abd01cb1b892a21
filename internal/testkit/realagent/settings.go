package realagent

import (
	"encoding/json"
	"fmt"
)

// The settings of each agent: where its model is, nobody else to talk to, and
// few retries, so that a scripted failure does not take minutes.

func claudeEnv(r Dirs) map[string]string {
	return map[string]string{
		"CLAUDE_CONFIG_DIR":                        r.Home + "/.claude",
		"ANTHROPIC_BASE_URL":                       r.URL,
		"ANTHROPIC_API_KEY":                        Key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_AUTOUPDATER":                      "1",
		"DISABLE_TELEMETRY":                        "1",
		"DISABLE_ERROR_REPORTING":                  "1",
		"CLAUDE_CODE_MAX_RETRIES":                  "1",
	}
}

func codexEnv(r Dirs) map[string]string {
	return map[string]string{"CODEX_HOME": r.Home + "/.codex", "SCRIPTED_API_KEY": Key, "OPENAI_API_KEY": Key, "NO_BROWSER": "1"}
}

// The model is one whose tools Codex knows: with an unknown name it offers no
// apply_patch, and with the newest ones no tools at all. The sandbox leaves /tmp alone: in a
// folder that commands may write, it makes an empty .git while they run. If the test ends
// Codex then, this .git remains, and other agents take all of /tmp for a repository.
func codexFiles(r Dirs) map[string]string {
	return map[string]string{".codex/config.toml": fmt.Sprintf(`model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
model_reasoning_summary = "auto"
[analytics]
enabled = false
[feedback]
enabled = false
[features]
plugins = false
apps = false
[model_providers.scripted]
name = "Scripted"
base_url = %q
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
[projects.%q]
trust_level = "trusted"
`, r.URL+"/v1", r.Dir)}
}

// codexOptions has Codex ask for what its sandbox forbids, and not for each
// command, so that its turns compare with those of agents that have a tool to read.
func codexOptions(Dirs) map[string]any {
	return map[string]any{"options": map[string]any{"approval": "on-request"}}
}

// listsFreely allows what Claude Code does unasked without a gateway, and the tests let agents do: to read and list
// what lies in the workspace.
func listsFreely(d Dirs) map[string]any {
	reads := map[string]any{"kinds": []string{"read", "search"}, "inside": true, "then": "allow"}
	return map[string]any{"policy": map[string]any{"rules": []any{reads, map[string]any{"commands": []string{"ls " + d.Dir + "/*"}, "then": "allow"}}}}
}

// readsFreely allows what other agents do unasked: with the gateway, OpenCode
// asks for everything.
func readsFreely(Dirs) map[string]any {
	rule := map[string]any{"kinds": []string{"read", "search"}, "inside": true, "then": "allow"}
	return map[string]any{"policy": map[string]any{"rules": []any{rule}}}
}

func opencodeEnv(r Dirs) map[string]string {
	return map[string]string{
		"OPENCODE_PURE":                    "1",
		"OPENCODE_DISABLE_MODELS_FETCH":    "1",
		"OPENCODE_DISABLE_AUTOUPDATE":      "1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD":    "1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
		"OPENCODE_CONFIG_CONTENT":          opencodeConfig(r),
	}
}

// opencodeConfig is for Kilo, too, which is made from OpenCode.
func opencodeConfig(r Dirs) string {
	type object = map[string]any
	return asJSON(object{
		"autoupdate": false, "share": "disabled", "model": "scripted/scripted-1", "small_model": "scripted/scripted-1",
		"enabled_providers": []string{"scripted"},
		"permission":        object{"bash": "ask", "edit": "ask"},
		"provider": object{"scripted": object{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
			"options": object{"baseURL": r.URL + "/v1", "apiKey": Key},
			"models": object{"scripted-1": object{
				"name": "Scripted 1", "reasoning": true, "tool_call": true, "limit": object{"context": 200000, "output": 32000},
			}},
		}},
	})
}

func geminiEnv(r Dirs) map[string]string {
	return map[string]string{
		"GEMINI_API_KEY": Key, "GOOGLE_GEMINI_BASE_URL": r.URL, "GEMINI_MODEL": "gemini-2.5-flash",
		"GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_NO_RELAUNCH": "true", "NO_BROWSER": "true",
	}
}

func geminiFiles(Dirs) map[string]string {
	type object = map[string]any
	return map[string]string{".gemini/settings.json": asJSON(object{
		"security":  object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
		"general":   object{"enableAutoUpdate": false, "maxAttempts": 2, "retryFetchErrors": false, "sessionRetention": object{"enabled": false}},
		"privacy":   object{"usageStatisticsEnabled": false},
		"telemetry": object{"enabled": false},
	})}
}

func qwenEnv(r Dirs) map[string]string {
	return map[string]string{"OPENAI_API_KEY": Key, "OPENAI_BASE_URL": r.URL + "/v1", "OPENAI_MODEL": "scripted-1", "NO_BROWSER": "1"}
}

// The mode is the one that asks: the default one asks a classifier first.
func qwenFiles(Dirs) map[string]string {
	type object = map[string]any
	return map[string]string{".qwen/settings.json": asJSON(object{
		"security":  object{"auth": object{"selectedType": "openai"}},
		"general":   object{"disableAutoUpdate": true, "enableAutoUpdate": false},
		"privacy":   object{"usageStatisticsEnabled": false},
		"telemetry": object{"enabled": false},
		"tools":     object{"approvalMode": "default"},
		"model":     object{"generationConfig": object{"maxRetries": 1}},
	})}
}

func copilotEnv(r Dirs) map[string]string {
	return map[string]string{
		"COPILOT_HOME": r.Home + "/.copilot", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "scripted-1",
		"COPILOT_PROVIDER_BASE_URL": r.URL + "/v1", "COPILOT_PROVIDER_TYPE": "openai", "COPILOT_PROVIDER_API_KEY": Key,
		"COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "200000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "32000",
	}
}

func kimiEnv(r Dirs) map[string]string {
	return map[string]string{"KIMI_CODE_HOME": r.Home + "/.kimi-code", "KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1", "KIMI_DISABLE_CRON": "1"}
}

func kimiFiles(r Dirs) map[string]string {
	return map[string]string{
		".kimi-code/config.toml": fmt.Sprintf(`default_model = "scripted"
default_permission_mode = "manual"
telemetry = false
[providers.scripted]
type = "openai"
base_url = %q
api_key = %q
[models.scripted]
provider = "scripted"
model = "scripted-1"
max_context_size = 200000
capabilities = ["thinking", "tool_use"]
[loop_control]
max_attempts_per_step = 2
`, r.URL+"/v1", Key),
		".kimi-code/tui.toml": "[upgrade]\nauto_install = false\n",
	}
}

func kiloEnv(r Dirs) map[string]string {
	return map[string]string{
		"KILO_PURE": "1", "KILO_DISABLE_MODELS_FETCH": "1", "KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_LSP_DOWNLOAD": "1",
		"KILO_DISABLE_DEFAULT_PLUGINS": "1", "KILO_DISABLE_SESSION_INGEST": "1", "KILO_DISABLE_SHARE": "1", "KILO_TELEMETRY_LEVEL": "off",
		"KILO_SESSION_RETRY_LIMIT": "1", "KILO_CONFIG_CONTENT": opencodeConfig(r),
	}
}

func piEnv(r Dirs) map[string]string {
	return map[string]string{"PI_CODING_AGENT_DIR": r.Home + "/.pi/agent", "PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
}

func piFiles(r Dirs) map[string]string {
	type object = map[string]any
	return map[string]string{
		".pi/agent/models.json": asJSON(object{"providers": object{"scripted": object{
			"baseUrl": r.URL + "/v1", "api": "openai-completions", "apiKey": Key,
			"models": []any{object{"id": "scripted-1", "name": "Scripted 1", "reasoning": true, "contextWindow": 200000, "maxTokens": 32000}},
		}}}),
		".pi/agent/settings.json": asJSON(object{
			"defaultProvider": "scripted", "defaultModel": "scripted-1", "quietStartup": true,
			"retry": object{"maxRetries": 1, "baseDelayMs": 100},
		}),
	}
}

func gooseEnv(r Dirs) map[string]string {
	return map[string]string{
		"GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "scripted-1", "OPENAI_HOST": r.URL, "OPENAI_API_KEY": Key,
		"GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false",
	}
}

// The key is of any provider; without it, Cline wants a login at its own.
func clineEnv(Dirs) map[string]string {
	return map[string]string{
		"CLINE_API_KEY": Key, "CLINE_PROVIDER": "openai-compatible", "CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1",
	}
}

func clineFiles(r Dirs) map[string]string {
	type object = map[string]any
	return map[string]string{".cline/data/settings/providers.json": asJSON(object{
		"version": 1, "lastUsedProvider": "openai-compatible", "modes": object{}, "providers": object{"openai-compatible": object{
			"settings":  object{"provider": "openai-compatible", "apiKey": Key, "model": "scripted-1", "baseUrl": r.URL + "/v1"},
			"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
		}},
	})}
}

func vibeEnv(r Dirs) map[string]string {
	return map[string]string{"VIBE_HOME": r.Home + "/.vibe", "SCRIPTED_API_KEY": Key}
}

func vibeFiles(r Dirs) map[string]string {
	return map[string]string{".vibe/config.toml": fmt.Sprintf(`active_model = "scripted"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
api_retry_max_elapsed_time = 1.0
[[providers]]
name = "scripted"
api_base = %q
api_key_env_var = "SCRIPTED_API_KEY"
backend = "generic"
[[models]]
name = "scripted-1"
provider = "scripted"
alias = "scripted"
`, r.URL+"/v1")}
}

func openaiOptions(r Dirs) map[string]any {
	return map[string]any{"url": r.URL + "/v1", "model": "scripted-1", "options": map[string]any{"retries": 1}}
}

func asJSON(v any) string {
	raw, _ := json.Marshal(v) // of maps and strings
	return string(raw)
}
