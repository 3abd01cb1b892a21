package main

// guardPromises are broken promises about who may do what.
func guardPromises() []mutation {
	return []mutation{
		{
			name: "an edit of a file that was read in part is shown as whole", promise: shown, file: "adapter/acp/files.go",
			text: "fs.ErrNotExist)) && !cut\n", other: "fs.ErrNotExist)) && (!cut || cut)\n", tests: "TestTheContent", packages: []string{"./adapter/acp"},
		},
		{
			name: "an agent reads the beginning of a file as the whole of it", promise: shown, file: "adapter/acp/files.go",
			text: "\tcase cut: //", other: "\tcase cut && err != nil: //", packages: []string{"./adapter/acp"},
		},
		{
			name: "a sub-agent that asks nobody is begun", promise: shown, file: "adapter/acp/ask.go",
			text: "slices.Contains(d.o.LooseTools, name)", other: "slices.Contains(d.o.LooseTools, name+\" \")", tests: "TestAToolWhose", packages: []string{"./adapter/acp"},
		},
		{
			name: "the user of an address is shown", promise: closedOff, file: "internal/address/address.go",
			text: "\thost = host[strings.LastIndexByte(host, '@')+1:]\n", other: "", packages: []string{"./internal/address"},
		},
		{
			name: "an address of mail counts without a check", promise: closedOff, file: "access/claims.go",
			text: "!isTrue(claim(claims, named+\"_verified\"))", other: "!isTrue(claim(claims, named+\"_verified\")) && named == \"\"", tests: "Claims", packages: []string{"./access"},
		},
		{
			name: "a call goes by another person's connection", promise: private, file: "agent/remote/socket.go",
			text: "t.conn, by.Bearer == \"\" || t.by == t.bearer(by)", other: "t.conn, true", tests: "WebSocket", packages: []string{"./agent/remote"},
		},
		{
			name: "a request of a turn that has ended waits for ever", promise: resumed, file: "uistream/rfc.go",
			text: "\t\td.emit(end)\n", other: "", tests: "AsksNothing", packages: []string{"./uistream"},
		},
		{
			name: "an edit is sent that LangChain does not allow", promise: oneAnswer, file: "internal/langchain/review.go",
			text: "\tif !a.may(\"edit\") {\n", other: "\tif !a.may(\"edit\") && len(r.UpdatedInput) == 0 {\n", packages: []string{"./internal/langchain"},
		},
		{
			name: "what a prompt says fills a template", promise: shown, file: "adapter/langgraph/template.go",
			text: "\t\tif v, ok := values[at]; ok {\n\t\t\treturn v\n", other: "\t\tif v, ok := values[at].(string); ok {\n\t\t\treturn within.Replace(v)\n", tests: "Template", packages: []string{"./adapter/langgraph"},
		},
		{
			name: "the address of a file may end the line of a mention", promise: mentions, file: "trace/filepart.go",
			text: "strings.ContainsFunc(p.URL, noAddress):", other: "strings.ContainsFunc(p.URL, noAddress) && p.Type == \"\":", tests: "File", packages: []string{"./gateway"},
		},
		{
			name: "any text is a media type", promise: mentions, file: "trace/filepart.go",
			text: "!isMediaType(p.MediaType), isData", other: "isData", tests: "File", packages: []string{"./gateway"},
		},
		{
			name: "the deltas of an input have no bound", promise: slow, file: "trace/tool.go",
			text: "if c.text.Len()+len(text) > t.MaxEvent {", other: "if c.text.Len()+len(text) < 0 {", packages: []string{"./trace"},
		},
		{
			name: "a text has no bound", promise: slow, file: "trace/text.go",
			text: "clip(text, t.MaxEvent-p.text.Len())", other: "clip(text, t.MaxEvent)", packages: []string{"./trace"},
		},
		{
			name: "a resource of a server is a file", promise: shown, file: "policy/toolkind/claude.go",
			text: "resource(\"Read\", \"uri\")", other: "read()", packages: []string{"./policy/permission"},
		},
		{
			name: "a browser guesses what an answer is", promise: closedOff, file: "gateway/errors.go",
			text: "w.Header().Set(\"X-Content-Type-Options\", \"nosniff\") // an answer", other: "// an answer", tests: "Exported", packages: []string{"./gateway"},
		},
		{
			name: "a mode overrules a rule that asks", promise: oneAnswer, file: "trace/openrequest.go",
			text: "!d.Decided && slices.ContainsFunc(a.Request.Options, lasting) {", other: "!d.Decided && (len(a.Request.Options) > 0 || slices.ContainsFunc(a.Request.Options, lasting)) {", tests: "AModeOverrules", packages: []string{"./trace"},
		},
		{
			name: "a page of an app with a token of its own in the address is refused", promise: closedOff, file: "access/exchange.go",
			text: " && (!g.app || g.looksOurs(r.URL.Query().Get(tokenParam)))", other: "", tests: "AnAppHasTheOrigin", packages: []string{"./internal/cli"},
		},
		{
			name: "each stranger who begins to sign in asks the store", promise: slow, file: "access/openid.go",
			text: "\tg.openID.key.Store(&e.Doc)\n", other: "", tests: "TestStrangers", packages: []string{"./access"},
		},
		{
			name: "a failed sign-in does not count", promise: slow, file: "access/openid.go",
			text: "\t\tg.failed.failed(v.arrival.client, query.Get(\"state\"))\n", other: "", tests: "TestStrangers", packages: []string{"./access"},
		},
		{
			name: "the provider's keys are read for each sign-in", promise: slow, file: "access/openid/provider.go",
			text: "at.Verifier(&oidc.Config", other: "at.VerifierContext(ctx, &oidc.Config", packages: []string{"./access/openid"},
		},
		{
			name: "the same wrong token counts each time", promise: slow, file: "access/backoff.go",
			text: "if slices.Contains(c.wrong, digest) {", other: "if slices.Contains(c.wrong, digest) && c.strikes == 0 {", tests: "TestAnAddress", packages: []string{"./access"},
		},
		{
			name: "a right token waits for wrong ones of its address", promise: slow, file: "access/guard.go",
			text: "\t\tleave, no := g.queue(r.Context(), a, token)\n", other: "\t\tif left := g.backoff.left(a.client); left > 0 {\n\t\t\treturn sender{}, tooManyWrong(w, left)\n\t\t}\n\t\tleave, no := g.queue(r.Context(), a, token)\n", tests: "TestAnAddress", packages: []string{"./access"},
		},
		{
			name: "a role of approvers reads the requests of all private sessions", promise: private, file: "gateway/authz/rights.go",
			text: "return w.Group != \"\" && w.Includes(p)", other: "return w.Includes(p)", tests: "TestAGroup|TestTheInbox", packages: []string{"./gateway"},
		},
		{
			name: "an approver learns of sessions without a request", promise: private, file: "gateway/authz/rights.go",
			text: " || !a.Hub.AsksPermission(r.Context(), id, request) {", other: " {", tests: "TestAGroup", packages: []string{"./gateway"},
		},
		{
			name: "an approver answers in a session of its owner alone", promise: private, file: "gateway/authz/rights.go",
			text: " && !people.Hosted && !people.Kind.Personal()", other: " && !people.Hosted", tests: "TestAGroup", packages: []string{"./gateway"},
		},
		{
			name: "a created token makes nobody else a user", promise: boxed, file: "internal/cli/people.go",
			text: "case created, mode ==", other: "case mode ==", tests: "TestACreatedToken", packages: []string{"./internal/cli"},
		},
		{
			name: "config check is silent of an agent that runs as the gateway's user", promise: oneAnswer, file: "internal/cli/apart.go",
			text: "|| s.people != severalPeople {", other: "|| s.people != severalPeople || len(s.Auth.Approver) > 1 {", tests: "TestAGatewayWarns", packages: []string{"./internal/cli"},
		},
		{
			name: "the token file keeps the token beside its hash", promise: closedOff, file: "access/first.go",
			text: "err = replaceFile(path, f.line(true))", other: "err = replaceFile(path, f.line(false))", packages: []string{"./access"},
		},
		{
			name: "the stream of an expired token goes on", promise: signed, file: "gateway/access.go",
			text: "context.WithDeadlineCause(r.Context(), p.Expires, uistream.ErrExpired)", other: "context.WithDeadlineCause(r.Context(), p.Expires.AddDate(1, 0, 0), uistream.ErrExpired)", tests: "Expir", packages: []string{"./gateway"},
		},
		{
			name: "a private session is open to everybody", promise: private, file: "gateway/authz/authz.go",
			text: "case !a.Private && !people.Hosted:", other: "case !people.Hosted:", tests: "Private|Member|Foreign|Stranger|Role", packages: []string{"./gateway"},
		},
		{
			name: "a personal session is open to its members", promise: private, file: "gateway/authz/authz.go",
			text: " || people.Kind.Personal() && p.ID != people.Owner {", other: " {", packages: []string{"./gateway", "./gateway/agentops"},
		},
		{
			name: "a token for another program counts", promise: signed, file: "access/jwt.go",
			text: "AnyAudience: v.Audience, ", other: "", packages: []string{"./access"},
		},
		{
			name: "a token without an end counts for ever", promise: signed, file: "access/jwt.go",
			text: "\tcase standard.Expiry == nil:\n\t\treturn Principal{}, jwtWrong(\"it does not say when it expires\")\n", other: "\tcase standard.Expiry == nil:\n\t\tstandard.Expiry = jwt.NewNumericDate(time.Now().AddDate(1, 0, 0))\n", packages: []string{"./access"},
		},
		{
			name: "every page may show the widget", promise: widget, file: "web/widget.go",
			text: "\"frame-ancestors \"+strings.Join(hosts, \" \")", other: "\"frame-ancestors * \"+strings.Join(hosts, \" \")", packages: []string{"./web"},
		},
		{
			name: "an agent names its data like the gateway's", promise: voice, file: "trace/dataname.go",
			text: "slices.Contains(reservedNames(), CleanDataName(name))", other: "slices.Contains(reservedNames(), name)", packages: []string{"./trace"},
		},
		{
			name: "an agent says how its turn ended", promise: voice, file: "trace/dataname.go",
			text: "[]string{\"outcome\", \"participants\",", other: "[]string{\"participants\",", packages: []string{"./trace", "./uistream"},
		},
		{
			name: "a line of an agent is a line of the export", promise: voice, file: "export/markdown/contain.go",
			text: "strings.ReplaceAll(text, \"\\n\", \"\\n> \")", other: "text", packages: []string{"./export/markdown"},
		},
		{
			name: "two dots lead out of the workspace", promise: inside, file: "policy/workspace/path.go",
			text: "\t\t\tdepth--\n", other: "\t\t\tdepth = max(depth-1, 0)\n", packages: []string{"./policy/workspace"},
		},
		{
			name: "a directory beside the workspace is inside", promise: inside, file: "policy/workspace/path.go",
			text: "if !ok || rest != \"\" && !os.IsPathSeparator(rest[0]) && !os.IsPathSeparator(dir[len(dir)-1]) {", other: "if !ok {", packages: []string{"./policy/workspace"},
		},
		{
			name: "an agent reads the secrets of the gateway", promise: inside, file: "policy/permission/closed.go",
			text: "\tcase slices.ContainsFunc(named.words, s.Closed):\n\t\treturn yes\n", other: "", packages: []string{"./policy/permission"},
		},
		{
			name: "many words hide a closed file", promise: inside, file: "policy/permission/closed.go",
			text: "case named.more || slices", other: "case slices", tests: "NotLookedAt", packages: []string{"./policy/permission"},
		},
		{
			name: "many words hide a file that a rule forbids", promise: inside, file: "policy/permission/paths.go",
			text: "case named.more || slices", other: "case slices", tests: "NotLookedAt", packages: []string{"./policy/permission"},
		},
		{
			name: "the signs of a shell hide a closed file", promise: inside, file: "policy/permission/texts.go",
			text: "\t\tn.pieces(line)\n", other: "", tests: "NoSign", packages: []string{"./policy/permission"},
		},
		{
			name: "a process inherits the environment of the gateway", promise: inside, file: "internal/procio/process.go",
			text: "return append([]string{}, env...)", other: "return env", tests: "Inherits", packages: []string{"./internal/procio"},
		},
		{
			name: "the library does not look at workspaces", promise: inside, file: "agents.go",
			text: "conflict := g.Apart(known[name]); conflict != nil {", other: "conflict := g.Apart(known[name]); conflict != nil && false {", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "a key for a variable with a secret is forgotten", promise: inside, file: "config/files.go",
			text: "if strings.HasSuffix(at, \"_env\") {", other: "if strings.HasSuffix(at, \".token_env\") {", tests: "Secret", packages: []string{"./config"},
		},
		{
			name: "an answer mentions a file outside", promise: mentions, file: "agent/agentkit/mention.go",
			text: "return m.apart(words, true)", other: "return string(m.apart(words, true)[:0]) + words", tests: "Suite", packages: []string{"./adapter/openharness"},
		},
		{
			name: "an agent tells news without end", promise: slow, file: "session/unasked.go",
			text: "fits := u.spent+units <= mostUnasked", other: "fits := units <= mostUnasked", tests: "NewsWithout", packages: []string{"./session"},
		},
		{
			name: "an agent begins turns without end", promise: slow, file: "session/host.go",
			text: "if info.Prompt == nil && !l.mayTell", other: "if info.Prompt != nil && !l.mayTell", tests: "NewsWithout", packages: []string{"./session"},
		},
		{
			name: "activities do not count with what a turn holds", promise: slow, file: "adapter/agui/data.go",
			text: "\tt.b.Hold(len(value) - len(t.values[at]))\n", other: "", tests: "AStateCounts", packages: []string{"./adapter/agui"},
		},
		{
			name: "ids that leave no record do not count with what a turn holds", promise: slow, file: "agent/agentkit/keep.go",
			text: "\tb.Hold(size)\n", other: "\tb.Hold(size - size)\n", tests: "Floods", packages: []string{"./adapter/openharness"},
		},
		{
			name: "ids are kept for the life of a session without end", promise: slow, file: "agent/agentkit/keep.go",
			text: "r.bytes > boundedMapBytes", other: "r.bytes < 0", tests: "ABoundedMapKnows", packages: []string{"./agent/agentkit"},
		},
		{
			name: "a search of a person reads the words of all", promise: private, file: "eventlog/sqllog/registry.go",
			text: "d.words.find(q.Words, len(args)+1, of)", other: "d.words.find(q.Words, len(args)+1, of[:0])", tests: "ASearchOfAPerson", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "what waits for a turn has no bound of bytes", promise: slow, file: "adapter/acp/update.go",
			text: " && d.earlyBytes+size <= mostEarlyBytes", other: "", tests: "WordsWithoutEnd", packages: []string{"./adapter/acp"},
		},
		{
			name: "figures of usage have no bound", promise: usage, file: "trace/normalize.go",
			text: "*n = max(0, min(*n, mostTokens))", other: "*n = min(*n, *n)", tests: "OddInput", packages: []string{"./trace"},
		},
		{
			name: "what nobody sees hides a command", promise: oneAnswer, file: "agent/command.go",
			text: "unicode.IsSpace(r) || isUnseen(r)", other: "unicode.IsSpace(r)", tests: "Command", packages: []string{"./session"},
		},
		{
			name: "a prompt mentions a file outside", promise: mentions, file: "agent/agentkit/mention.go",
			text: "\t\tif !m.isInside(word[:end]) {\n", other: "\t\tif !m.isInside(word[:end]) && end == len(word) {\n", packages: []string{"./agent/agentkit"},
		},
		{
			name: "Claude Code is given no hooks", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "\tif hooks {\n", other: "\tif hooks && body == nil {\n", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "a hook lets a call of Claude Code run", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "hookDecision{Event: in.Event, Decision: \"ask\", ", other: "hookDecision{Event: in.Event, Decision: \"allow\", ", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "the policy does not judge what works on Claude Code's own state", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "case in.Tool == skillTool:", other: "case in.Tool == \"Task\":\n\t\td.do(agent.Send{Data: answerLine(l.RequestID, hookReply{})})\n\tcase in.Tool == skillTool:",
			tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "the policy does not forbid a skill", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "case !r.Allowed():", other: "case !r.Allowed() && a.hook == beforeShell:", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "Claude Agent is not told to ask", promise: oneAnswer, file: "adapter/acp/protocol.go",
			text: "where[\"_meta\"] = m", other: "_ = m", tests: "ClaudeAgentIsTold", packages: []string{"./adapter/acp"},
		},
		{
			name: "an always that the agent keeps is a grant", promise: oneAnswer, file: "session/grants.go",
			text: "!permission.Once(q.Options)", other: "q.Options == nil", tests: "AnAlwaysThatTheAgentKeeps", packages: []string{"./session"},
		},
		{
			name: "a shell line that was denied runs", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "v.Decision, v.Reason = \"deny\", agentkit.Refusal(r)", other: "v.Reason = agentkit.Refusal(r)", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "an edited shell line runs as it was", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "a.hook == beforeShell && len(r.UpdatedInput) > 0:", other: "a.hook == beforeShell && len(r.UpdatedInput) > 0 && v.Reason != \"\":", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "edits run in a mode that the gateway did not choose", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "if d.chosen != acceptEdits || cmp.Or", other: "if cmp.Or", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "the mode acceptEdits allows edits of hidden files", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "[]string{\".*\", \".*/**\", \"**/.*\", \"**/.*/**\"}", other: "[]string{\"*.hidden\"}", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "an operator's bypass is hooked", promise: oneAnswer, file: "adapter/claude/protocol.go",
			text: "hooks: !r.Unguarded", other: "hooks: !r.Unguarded || conn.Done() != nil", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "a Claude Code that refuses hooks does not start", promise: oneAnswer, file: "adapter/claude/protocol.go",
			text: "answer.Subtype == \"error\" && p.hooks {", other: "answer.Subtype == \"error\" && !p.hooks {", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "a model reviews what Codex asks", promise: oneAnswer, file: "adapter/codex/protocol.go",
			text: ", \"approvalsReviewer\": \"user\", // not", other: ", // not", packages: []string{"./adapter/codex"}, tests: "Suite|Ugly|Option",
		},
		{
			name: "Claude Code gets no image", promise: files, file: "adapter/claude/input.go",
			text: "\tcase shown && file.Inline:\n", other: "\tcase shown && file.Inline && file.OnWeb():\n", tests: "File|Sent", packages: []string{"./adapter/claude"},
		},
		{
			name: "cached tokens are lost in a sum", promise: usage, file: "trace/usage.go",
			text: "\tu.CacheReadTokens += more.CacheReadTokens\n", other: "", packages: []string{"./trace"},
		},
		{
			name: "an id that waits is taken for another request (acp)", promise: oneAnswer, file: "adapter/acp/decode.go",
			text: "_, waits := d.theirs[id]; waits {", other: "_, waits := d.theirs[id]; waits && len(id) == 0 {", tests: "IDOfOne", packages: []string{"./adapter/acp"},
		},
		{
			name: "a terminal answers under an id that waits", promise: oneAnswer, file: "adapter/acp/decode.go",
			text: "\t\td.newest = jsonrpc.Message{}\n", other: "", tests: "WhoseID", packages: []string{"./adapter/acp"},
		},
		{
			name: "the refusal of a second request answers the first", promise: oneAnswer, file: "adapter/acp/decode.go",
			text: "\tcase m.IsSameID():\n", other: "\tcase m.IsSameID() && m.ID == nil:\n", tests: "IDOfOne", packages: []string{"./adapter/acp"},
		},
		{
			name: "a withdrawn id is free before its reply is sent", promise: oneAnswer, file: "adapter/acp/decode.go",
			text: "\td.theirs[string(id)] = their{}\n\tr.ask", other: "\tdelete(d.theirs, string(id))\n\tr.ask", tests: "AnIDIsTaken", packages: []string{"./adapter/acp"},
		},
		{
			name: "an id that waits is taken for another request (claude)", promise: oneAnswer, file: "adapter/claude/decode.go",
			text: "\tcase waits:\n", other: "\tcase waits && l.RequestID == \"\":\n", tests: "IDOfOne", packages: []string{"./adapter/claude"},
		},
		{
			name: "an id that waits is taken for another request (codex)", promise: oneAnswer, file: "adapter/codex/ask.go",
			text: "_, waits := d.asks[string(l.ID)]; waits {", other: "_, waits := d.asks[string(l.ID)]; waits && l.Method == \"\" {", tests: "IDOfOne", packages: []string{"./adapter/codex"},
		},
		{
			name: "an answer is sent though its request was withdrawn", promise: oneAnswer, file: "agent/agentkit/effect.go",
			text: "return !r.withdrawn && (cause", other: "return r.withdrawn || (cause", tests: "LaterRequest", packages: []string{"./agent/agentkit"},
		},
		{
			name: "a later request of the same id leaves the earlier one", promise: oneAnswer, file: "agent/agentkit/effect.go",
			text: "\ts.release(native, errWithdrawn)\n\tctx", other: "\tctx", tests: "LaterRequest", packages: []string{"./agent/agentkit"},
		},
		{
			name: "a request of another content is not asked anew", promise: oneAnswer, file: "adapter/opencode/ask.go",
			text: "i >= 0 && agentkit.SameJSON(agentkit.Encode(turn.asks[i].request), agentkit.Encode(r)) {", other: "i >= 0 {", tests: "AskedAnew", packages: []string{"./adapter/opencode"},
		},
		{
			name: "the answers that an agent does not read have no bound", promise: slow, file: "agent/agentkit/unread.go",
			text: "u.answers >= mostUnread || u.bytes >= mostUnreadBytes", other: "u.answers < 0", tests: "ReadsNo", packages: []string{"./agent/agentkit"},
		},
		{
			name: "the size of unread answers does not count", promise: slow, file: "agent/agentkit/unread.go",
			text: "\tu.bytes += bytes\n", other: "", tests: "ReadsNo", packages: []string{"./agent/agentkit"},
		},
		{
			name: "an answer that is being made does not count", promise: slow, file: "agent/agentkit/effect.go",
			text: "\t\ts.unread.add(unmadeBytes)\n", other: "", tests: "ReadsNo", packages: []string{"./agent/agentkit"},
		},
		{
			name: "a program that reads no answer is heard for ever", promise: slow, file: "agent/agentkit/process.go",
			text: "\t\t\t\ts.room(p)\n", other: "", tests: "ReadsLate|NeverReads", packages: []string{"./agent/agentkit"},
		},
		{
			name: "a command in a folder is a path", promise: oneAnswer, file: "agent/command.go",
			text: "if strings.Trim(word, \"/\") != \"\" {", other: "if !strings.Contains(word, \"/\") {", tests: "ACommandNeeds", packages: []string{"./session"},
		},
		{
			name: "settings of the workspace count unasked", promise: settings, file: "session/opening.go",
			text: "t.decideSettings(a.Runtime, files)", other: "a.Runtime, error(nil)", tests: "SettingsOfTheWorkspace", packages: []string{"./session"},
		},
		{
			name: "a settings file may change while a person is asked", promise: settings, file: "session/workspacesettings.go",
			text: "slices.EqualFunc(found, decided, agent.FoundSettings.Same)", other: "found != nil || slices.EqualFunc(found, decided, agent.FoundSettings.Same)", tests: "SettingsOfTheWorkspace", packages: []string{"./session"},
		},
		{
			name: "a key of a settings file that is not known does not count", promise: settings, file: "agent/workspacesettings.go",
			text: "if !slices.Contains(f.Harmless, key) {", other: "if len(key) > 100 {", tests: "TestFindSettings", packages: []string{"./agent"},
		},
		{
			name: "the end of a long settings file does not count", promise: settings, file: "agent/workspacesettings.go",
			text: "hex.EncodeToString(sum[:])", other: "hex.EncodeToString(sum[:0])", tests: "TestSettingsFilesAreBounded", packages: []string{"./agent"},
		},
		{
			name: "hooks in folders of the workspace, which Copilot runs, count unasked", promise: settings, file: "adapter/acp/preset.go",
			text: `files(".github/hooks/**/*", `, other: `files(".github/hooks/*", `, tests: "TestPresetsKnowTheFiles", packages: []string{"./adapter/acp"},
		},
		{
			name: "a person is shown the values of variables", promise: settings, file: "agent/workspacesettings.go",
			text: "data = namesOnly(data)", other: "_ = namesOnly(data)", tests: "TestValuesOfVariables", packages: []string{"./agent"},
		},
		{
			name: "a variable that switches Vibe's requests off counts as harmless", promise: settings, file: "session/agentset/bypass.go",
			text: `"VIBE_BYPASS_TOOL_PERMISSIONS"`, other: `"VIBE_BYPASS"`, tests: "TestArgumentsThatBypass", packages: []string{"./internal/cli"},
		},
		{
			name: "Claude Code starts helpers of the workspace unasked", promise: settings, file: "agent/workspacesettings.go",
			text: "harmless := []string{\"$schema\", \"permissions\",", other: "harmless := []string{\"apiKeyHelper\", \"permissions\",", tests: "TestSettingsFilesOfClaudeCode", packages: []string{"./adapter/claude"},
		},
	}
}
