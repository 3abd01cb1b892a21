package claude_test

import (
	"fmt"
	"testing"
)

func call(id, name, input string) string {
	return assistantLine("m-"+id, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":`+input+`}`)
}

func may(request, id, tool, input, rest string) string {
	return out(`{"type":"control_request","request_id":"` + request + `","request":{"subtype":"can_use_tool","tool_name":"` + tool + `","tool_use_id":"` + id + `","input":` + input + rest + `}}`)
}

func reply(request, response string) string {
	return in(`{"type":"control_response","response":{"subtype":"success","request_id":"` + request + `","response":` + response + `}}`)
}

func TestTools(t *testing.T) {
	t.Parallel()
	runEdges(t, []edge{
		{"results of all forms", []string{
			hello, call("t1", "mcp__db__run_query", `{"q":1}`), userLine(`[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"},{"type":"text","text":"b <"}]}]`),
			call("t2", "Read", `{"file_path":"/w/x.png"}`), userLine(`[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"image","source":{"data":"AA"}}]}]`),
			call("t3", "Edit", `{}`), userLine(`[{"type":"tool_result","tool_use_id":"t3","is_error":true,"content":"<tool_use_error>no such text</tool_use_error>"}]`),
			call("t4", "Bash", `{"command":"true"}`), userLine(`[{"type":"tool_result","tool_use_id":"t4"}]`), done,
		}, []string{
			"prompt hi", "reply prompt", `call t1 db: run_query {"q":1}`, `result t1 completed "a\nb <"`,
			`call t2 Read {"file_path":"/w/x.png"}`, `result t2 completed [{"type":"image","source":{"data":"AA"}}]`,
			"call t3 Edit {}", `result t3 failed "<tool_use_error>no such text</tool_use_error>" no such text`,
			`call t4 Bash {"command":"true"}`, `result t4 completed ""`, "stop completed end_turn",
		}},
		{"tools of the provider", []string{
			hello, begin("a"), open1(0, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"query\":\"go\"}"}`), shut(0),
			open1(1, `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"https://go.dev","title":"Go","encrypted_content":"zzz"}]}`), shut(1),
			assistantLine("a", `{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"https://go.dev","title":"Go","encrypted_content":"zzz"}]}`),
			open1(2, text0), textDelta(2, "See"), delta(2, `{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://go.dev","title":"Go"}}`),
			delta(2, `{"type":"citations_delta","citation":{"type":"char_location","document_title":"Notes"}}`), shut(2),
			assistantLine("b", `{"type":"server_tool_use","id":"s2","name":"web_fetch","input":{"url":"u"}}`), assistantLine("b", `{"type":"web_fetch_tool_result","tool_use_id":"s2","content":{"type":"web_fetch_tool_error","error_code":"unavailable"}}`), done,
		}, []string{
			"prompt hi", "reply prompt", `call s1 web_search {"query":"go"}`, "source https://go.dev Go", `result s1 completed [{"title":"Go","type":"web_search_result","url":"https://go.dev"}]`,
			"source  Notes", "text See", `call s2 web_fetch {"url":"u"}`, `result s2 failed {"type":"web_fetch_tool_error","error_code":"unavailable"} The tool failed: unavailable.`, "stop completed end_turn",
		}},
		{"plan and changed files", []string{
			hello, call("t1", "TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"odd"}]}`), userLine(`[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]`),
			call("t2", "Edit", `{"file_path":"/w/a"}`),
			out(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]},"tool_use_result":{"filePath":"/w/a","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-x","+y"]}]}}`),
			call("t3", "Write", `{"file_path":"/w/b"}`),
			out(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"ok"}]},"tool_use_result":{"type":"create","filePath":"/w/b","content":"1\n2","structuredPatch":[],"originalFile":null}}`), done,
		}, []string{
			"prompt hi", "reply prompt", `call t1 TodoWrite {"todos":[{"content":"a","status":"completed"},{"content":"b","status":"odd"}]}`, "plan [{a completed} {b pending}]", `result t1 completed "ok"`,
			`call t2 Edit {"file_path":"/w/a"}`, `result t2 completed "ok"`, `modified /w/a "--- /w/a\n+++ /w/a\n@@ -1,1 +1,1 @@\n-x\n+y\n"`,
			`call t3 Write {"file_path":"/w/b"}`, `result t3 completed "ok"`, `created /w/b "--- /dev/null\n+++ /w/b\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n"`, "stop completed end_turn",
		}},
		{"a sub-agent that streams", []string{
			hello, call("t1", "Task", `{"description":"d"}`),
			out(`{"type":"stream_event","parent_tool_use_id":"t1","event":{"type":"message_start","message":{"id":"s"}}}`),
			out(`{"type":"stream_event","parent_tool_use_id":"t1","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`),
			out(`{"type":"stream_event","parent_tool_use_id":"t1","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"sub"}}}`),
			out(`{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"s2","content":[{"type":"tool_use","id":"u1","name":"Task","input":{}}]}}`),
			out(`{"type":"assistant","parent_tool_use_id":"u1","message":{"id":"s3","content":[{"type":"text","text":"deep"}]}}`),
			out(`{"type":"user","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_result","tool_use_id":"u1","content":"ok"}]}}`),
			userLine(`[{"type":"tool_result","tool_use_id":"t1","content":"report"}]`), done,
		}, []string{
			"prompt hi", "reply prompt", `call t1 Task {"description":"d"}`, "t1> call u1 Task {}", "u1> text deep", `t1> result u1 completed "ok"`,
			`result t1 completed "report"`, "t1> text sub", "stop completed end_turn",
		}},
	})
}

func TestAsks(t *testing.T) {
	t.Parallel()
	const suggestions = `,"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`
	const two = `{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]},{"question":"And?","multiSelect":true,"options":[{"label":"C"},{"label":"D"}]}]}`
	runEdges(t, []edge{
		{"a call that nobody has seen, denied in the old way", []string{
			hello, may("r1", "t1", "Bash", `{"command":"rm x"}`, ""), reply("r1", `{"behavior":"deny","message":"No, thanks."}`),
			userLine(`[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"No, thanks."}]`), done,
		}, []string{
			"prompt hi", "reply prompt", `call t1 Bash {"command":"rm x"}`, "may r1 t1: Run `rm x` [allow always deny]", "answer selected deny  No, thanks.",
			`result t1 denied "No, thanks." No, thanks.`, "stop completed end_turn",
		}},
		{"always, with another input", []string{
			hello, call("t1", "Write", `{"file_path":"a","content":"x"}`), may("r1", "t1", "Write", `{"file_path":"a","content":"x"}`, suggestions),
			reply("r1", `{"behavior":"allow","updatedInput":{"content":"y","file_path":"a"},"updatedPermissions":[{}]}`), userLine(`[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]`), done,
		}, []string{
			"prompt hi", "reply prompt", `call t1 Write {"file_path":"a","content":"x"}`, "may r1 t1: Write a [allow always deny]",
			`answer selected always {"content":"y","file_path":"a"}`, `result t1 completed "ok"`, "stop completed end_turn",
		}},
		{"withdrawn, and answered too late", []string{
			hello, call("t1", "Bash", `{}`), may("r1", "t1", "Bash", `{}`, ""), out(`{"type":"control_cancel_request","request_id":"r1"}`), reply("r1", `{"behavior":"allow"}`),
			userLine(`[{"type":"text","text":"[Request interrupted by user for tool use]"}]`), out(`{"type":"result","subtype":"error_during_execution","is_error":true}`),
		}, []string{
			"prompt hi", "reply prompt", "call t1 Bash {}", "may r1 t1: Run [allow always deny]", "answer canceled", "result t1 canceled null Not finished: the turn was stopped.", "stop canceled interrupted",
		}},
		{"two questions", []string{
			hello, may("r1", "t1", "AskUserQuestion", two, ""), reply("r1", `{"behavior":"allow","updatedInput":{"answers":{"Which?":"something else","And?":"C, D"}}}`), userLine(`[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]`), done,
		}, []string{
			"prompt hi", "reply prompt", "call t1 AskUserQuestion " + two, "question r1 Which? 2", "question r1#2 And? 2",
			"answer r1 selected something else", "answer r1#2 selected C+D", `result t1 completed "ok"`, "stop completed end_turn",
		}},
		{"questions that nobody answers", []string{
			hello, may("r1", "t1", "AskUserQuestion", two, ""), reply("r1", `{"behavior":"allow","updatedInput":`+two+`}`), done,
		}, []string{
			"prompt hi", "reply prompt", "call t1 AskUserQuestion " + two, "question r1 Which? 2", "question r1#2 And? 2",
			"answer r1 canceled ", "answer r1#2 canceled ", "result t1 canceled null Not finished: the agent ended its turn without a result.", "stop completed end_turn",
		}},
	})
}

func said(text string) string {
	return out(fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":%q}`, text))
}

func failed(text string) string {
	return out(fmt.Sprintf(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"errors":[%q]}`, text))
}

func TestEnds(t *testing.T) {
	t.Parallel()
	runEdges(t, []edge{
		{"limits", []string{
			hello, out(`{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":9}`),
		}, []string{"prompt hi", "reply prompt", "stop failed max_turns Claude Code stopped because it reached its limit of model calls."}},
		{"an error hidden behind success", []string{
			hello, out(`{"type":"assistant","message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"Invalid API key · Please run /login"}]},"error":"authentication_failed"}`),
			out(`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"Invalid API key · Please run /login"}`),
		}, []string{"prompt hi", "reply prompt", "stop failed api_error Invalid API key · Please run /login — log in by running `claude` once in a terminal, or set ANTHROPIC_API_KEY"}},
		{"an error without a word", []string{
			hello, out(`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["[ede_diagnostic] x"]}`),
		}, []string{"prompt hi", "reply prompt", "stop failed error_during_execution Claude Code ended the turn with an error (error_during_execution)."}},
		{"late lines", []string{
			hello, begin("a"), open1(0, text0), textDelta(0, "ab"), done, shut(0), messageEnd("end_turn"), event(`{"type":"message_stop"}`), out(`{"type":"control_cancel_request","request_id":"x"}`),
			reply("x", `{"behavior":"allow"}`), out(`{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}`), out(`{"type":"system","subtype":"compact_boundary"}`),
		}, []string{
			"prompt hi", "reply prompt", "text ab", "stop completed end_turn", `data mode {"mode":"plan"}`,
			`error compacted: The agent has compacted the conversation to make room.`,
		}},
		{"two prompts that wait", []string{
			hello, in(`{"type":"user","message":{"content":[{"type":"text","text":"second"},{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]}}`),
			in(`{"type":"user","message":{"content":"third"}}`), assistantLine("a", `{"type":"text","text":"1"}`), done, assistantLine("b", `{"type":"text","text":"2"}`), done, assistantLine("c", `{"type":"text","text":"3"}`), done,
			assistantLine("d", `{"type":"text","text":"4"}`), done,
		}, []string{
			"prompt hi", "reply prompt", "text 1", "stop completed end_turn", "prompt second", "reply prompt", "text 2", "stop completed end_turn",
			"prompt third", "reply prompt", "text 3", "stop completed end_turn", "reply agent", "text 4", "stop completed end_turn",
		}},
		{"an error before anything was said, without a prompt", []string{
			out(`{"type":"system","subtype":"init","session_id":"s"}`), out(`{"type":"system","subtype":"status","status":"requesting"}`),
			out(`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"retry_delay_ms":1000}`), out(`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"API Error: oh"}`),
		}, []string{"reply agent", "error retry: The model's provider answered with an error; trying again in 1.0 s (1 of 1).", "stop failed api_error API Error: oh"}},
		{"a prompt while a sub-agent reports", []string{
			hello, call("t1", "Task", `{"description":"d"}`), out(`{"type":"system","subtype":"task_started","task_id":"k","tool_use_id":"t1","description":"d"}`),
			userLine(`[{"type":"tool_result","tool_use_id":"t1","content":"started"}]`), done,
			out(`{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"s","content":[{"type":"text","text":"working"}]}}`), in(`{"type":"user","message":{"content":"again"}}`),
			out(`{"type":"system","subtype":"init","session_id":"s"}`), assistantLine("b", `{"type":"text","text":"sure"}`),
			out(`{"type":"system","subtype":"task_notification","task_id":"k","tool_use_id":"t1","status":"stopped"}`), done,
		}, []string{
			"prompt hi", "reply prompt", `call t1 Task {"description":"d"}`, `t1> data task {"description":"d","status":"running","task_id":"k","tool_call_id":"t1"}`,
			`result t1 completed "started"`, "stop completed end_turn",
			"reply agent", `call t1 Task {"description":"d"}`, "t1> text working", "result t1 canceled null Not finished: the agent ended its turn without a result.", "stop completed end_turn",
			"prompt again", "reply prompt", "text sure", `data task {"status":"stopped","summary":"","task_id":"k","tool_call_id":"t1"}`, "stop completed end_turn",
		}},
		{"word of a lost background task before the answer", []string{
			out(`{"type":"system","subtype":"init","session_id":"s"}`), hello,
			out(`{"type":"result","subtype":"success","is_error":false,"num_turns":0,"queued_turn_count":0,"result":"","origin":{"kind":"task-notification"}}`),
			assistantLine("a", `{"type":"text","text":"1"}`), done,
		}, []string{"prompt hi", "reply prompt", "text 1", "stop completed end_turn"}},
		{"a background task's report that comes before the answer", []string{
			hello, echo("hi"), assistantLine("a", `{"type":"text","text":"1"}`), done, in(`{"type":"user","message":{"content":"again"}}`),
			assistantLine("b", `{"type":"text","text":"the task is done"}`), reported, echo("again"), assistantLine("c", `{"type":"text","text":"2"}`), done,
		}, []string{
			"prompt hi", "reply prompt", "text 1", "stop completed end_turn",
			"prompt again", "reply prompt", "text the task is done", "text 2", "stop completed end_turn",
		}},
		{"a prompt that the agent takes up with the report of a background task", []string{
			hello, echo("hi"), assistantLine("a", `{"type":"text","text":"1"}`), done, in(`{"type":"user","message":{"content":"again"}}`),
			out(`{"type":"user","isReplay":true,"origin":{"kind":"task-notification"},"message":{"content":"<task-notification>"}}`), echo("again"), assistantLine("b", `{"type":"text","text":"2"}`), reported,
		}, []string{
			"prompt hi", "reply prompt", "text 1", "stop completed end_turn",
			"prompt again", "reply prompt", "text 2", "stop completed end_turn",
		}},
		{"prompts that are echoed", []string{
			out(`{"type":"user","isReplay":true,"message":{"content":"hi"}}`), assistantLine("a", `{"type":"text","text":"1"}`), done,
			out(`{"type":"user","isReplay":true,"message":{"content":"<local-command-stdout>x</local-command-stdout>"}}`),
		}, []string{"prompt hi", "reply prompt", "text 1", "stop completed end_turn"}},
		{
			"a recording that breaks off",
			[]string{hello, begin("a"), open1(0, text0), textDelta(0, "ab")},
			[]string{"prompt hi", "reply prompt", "text ab", "stop canceled recording_ended"},
		},
		{"the mode in effect", []string{
			hello, in(`{"type":"control_request","request_id":"g1","request":{"subtype":"set_permission_mode","mode":"plan"}}`), in(`{"type":"control_request","request_id":"g2","request":{"subtype":"set_model","model":"m"}}`),
			out(`{"type":"control_response","response":{"subtype":"success","request_id":"g2","response":{"mode":"plan"}}}`), out(`{"type":"control_response","response":{"subtype":"success","request_id":"g1","response":{"mode":"default"}}}`), done,
			in(`{"type":"control_request","request_id":"g3","request":{"subtype":"set_permission_mode","mode":"plan"}}`), out(`{"type":"control_response","response":{"subtype":"success","request_id":"g3","response":{}}}`),
		}, []string{"prompt hi", "reply prompt", "stop completed end_turn", `data mode {"mode":"default"}`}},
		{"what could not be saved", []string{
			hello, out(`{"type":"system","subtype":"session_writes_lost","error_code":"ENOSPC","lost":["global_config","transcript"],"transcript_session_ids":["s"],"session_id":"s"}`), done,
			out(`{"type":"system","subtype":"session_writes_lost","error_code":"EDQUOT","lost":["global_config"],"session_id":"s"}`), out(`{"type":"system","subtype":"session_writes_lost","error_code":"EIO","lost":["transcript"],"session_id":"s"}`),
		}, []string{
			"prompt hi", "reply prompt", "error session_writes_lost: Claude Code could not save all of the conversation (the disk is full), and a resumed session may miss a part of it: free some space on the disk of its home directory.", "stop completed end_turn",
			"error session_writes_lost: Claude Code could not save its settings (the disk quota is used up): free some space on the disk of its home directory.",
			"error session_writes_lost: Claude Code could not save all of the conversation (EIO), and a resumed session may miss a part of it: free some space on the disk of its home directory.",
		}},
		{"a failure of the provider that has the subtype success", []string{
			hello, out(`{"type":"assistant","message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"The plan is used up"}]},"error":"rate_limit"}`),
			out(`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"completed","result":"The plan is used up"}`),
		}, []string{"prompt hi", "reply prompt", "stop failed rate_limit The plan is used up"}},
		{"a failure that a model tells", []string{
			hello, out(`{"type":"assistant","message":{"id":"e","model":"m","content":[{"type":"text","text":"The plan is used up"}]},"error":"rate_limit"}`), out(`{"type":"result","subtype":"success","is_error":true,"result":"The plan is used up"}`),
		}, []string{"prompt hi", "reply prompt", "text The plan is used up", "stop failed rate_limit The plan is used up"}},
		{"a failure without any word", []string{
			hello, out(`{"type":"result","subtype":"success","is_error":true}`),
		}, []string{"prompt hi", "reply prompt", "stop failed error Claude Code ended the turn with an error (error)."}},
		{"results behind the result", []string{
			hello, assistantLine("a", `{"type":"text","text":"1"}`), said("1"), said("1"), said(""), failed("this input cannot be taken here"), failed("this input cannot be taken here"),
			in(`{"type":"user","message":{"content":"again"}}`), assistantLine("b", `{"type":"text","text":"2"}`), said("2"),
		}, []string{
			"prompt hi", "reply prompt", "text 1", "stop completed end_turn", "error error_during_execution: this input cannot be taken here",
			"prompt again", "reply prompt", "text 2", "stop completed end_turn",
		}},
		{"a result behind a failed turn", []string{
			hello, failed("the line broke"), failed("the line broke"), out(`{"type":"result","subtype":"error_max_turns","is_error":true}`), said("It went on."),
		}, []string{
			"prompt hi", "reply prompt", "stop failed error_during_execution the line broke", "error max_turns: Claude Code stopped because it reached its limit of model calls.",
			"reply agent", "text It went on.", "stop completed end_turn",
		}},
		{"a result behind a stopped turn", []string{
			hello, out(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"}`), out(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`),
		}, []string{"prompt hi", "reply prompt", "stop canceled interrupted"}},
		{"a failure at the beginning", []string{failed("no")}, []string{"reply agent", "stop failed error_during_execution no"}},
		{"a failure of a prompt that waited", []string{
			hello, in(`{"type":"user","message":{"content":"again"}}`), assistantLine("a", `{"type":"text","text":"1"}`), said("1"), failed("no"),
		}, []string{"prompt hi", "reply prompt", "text 1", "stop completed end_turn", "prompt again", "reply prompt", "stop failed error_during_execution no"}},
		{"a result at the beginning", []string{said("All of it.")}, []string{"reply agent", "text All of it.", "stop completed end_turn"}},
		{"the agent's own news", []string{
			hello, out(`{"type":"system","subtype":"hook_response","hook_name":"lint","outcome":"error","stderr":"bad style"}`), out(`{"type":"system","subtype":"hook_started"}`),
			out(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"five_hour"}}`), out(`{"type":"tool_progress","tool_name":"Bash","elapsed_time_seconds":30}`),
			out(`{"type":"keep_alive"}`), out(`{"type":"system","subtype":"from_the_future","x":[1]}`), event(`{"type":"ping"}`), event(`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`), done,
		}, []string{
			"prompt hi", "reply prompt", "error hook: bad style", "error rate_limit: The account has reached its rate limit (five_hour).", "error overloaded_error: busy", "stop completed end_turn",
		}},
	})
}
