package main

// table is the broken promises, in the order of docs/internals/promises.md. Each is an error that
// somebody could make who changes the line.
func table() []mutation {
	const (
		survive   = "Finished parts survive a crash."
		oneWriter = "One gateway writes a session."
		damaged   = "The gateway reports a damaged log."
		resumed   = "A resumed message equals an uninterrupted one."
		stays     = "A disconnect is not a stop."
		once      = "A prompt runs once, in its turn, or is held, or stays in the history as not run."
		rewound   = "After a regenerate or an edit nothing remembers the removed messages."
		oneAnswer = "A request has one answer, from a person who may give it."
		shown     = "A person sees the whole input that they are asked about."
		waits     = "A turn waits for its answer without a connection, for 24 h."
		tabs      = "Events tell other tabs of each turn."
		known     = "A client gets only what its release knows."
		slow      = "A slow client harms nobody. Every principal, session, turn and connection has limits."
		closedOff = "Without a token nothing is open."
		private   = "A private session is open to its owner and its members only."
		signed    = "A JSON Web Token counts until it expires."
		widget    = "Only the pages that the setting names show the widget's chat."
		voice     = "An agent speaks neither as the gateway nor as a person."
		inside    = "\"Inside the workspace\" means inside."
		mentions  = "No part of a prompt makes an agent read a file outside the workspace unasked."
		files     = "The agent gets the files of a prompt."
		usage     = "The usage of a turn is what its agent has used."
	)
	return []mutation{
		{
			name: "SQLite does not sync durable commits", promise: survive, file: "eventlog/sqllog/sqlite.go",
			text: "\t\tmode = w.durable\n", other: "\t\tmode = \"NORMAL\"\n", tests: "SQLite", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a durable record is not synced", promise: survive, file: "eventlog/sqllog/writer.go",
			text: "sync = sync || o.durable()", other: "sync = sync || o.durable() && len(ops) > 1", tests: "SQLite", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a turn that a restart cut off is not closed", promise: survive, file: "session/recover.go",
			text: "\terr = l.closeOrphans(ctx, restarted())\n\tif h.ifInMemory", other: "\terr = l.hub.reattach(ctx, l)\n\tif h.ifInMemory", packages: []string{"./session"},
		},
		{
			name: "two gateways take one data directory", promise: oneWriter, file: "eventlog/sqllog/lock.go",
			text: "if err == nil && !ok {", other: "if err == nil && !ok && false {", tests: "Lock|Holder|Held|Two|Second", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a gateway writes a session that another has taken", promise: oneWriter, file: "eventlog/sqllog/transact.go",
			text: "if terms[se.id] != (ownership{s.owner, se.term}) {", other: "if terms[se.id].term < se.term {", tests: "TwoStores", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "the checksum of a record leaves out what the record says", promise: damaged, file: "eventlog/sqllog/sum.go",
			text: "sum(0).text(r.session).seqs(r.seq, r.prev).bytes(r.body)", other: "sum(0).text(r.session).seqs(r.seq, r.prev)", tests: "Flipped|Damaged", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "the damage of a session is not reported", promise: damaged, file: "eventlog/sqllog/damage.go",
			text: "\t\tknown[what] = struct{}{}\n", other: "\t\tdelete(d.sessions, session)\n", tests: "Flipped|Damaged", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "the rest of a message begins one record late", promise: resumed, file: "uistream/subscriber.go",
			text: "case m.seq < s.span.From:", other: "case m.seq <= s.span.From:", packages: []string{"./uistream"},
		},
		{
			name: "a subscriber that is behind reads the log one record late", promise: resumed, file: "uistream/subscriber.go",
			text: "s.source.Records(ctx, s.behind.seq)", other: "s.source.Records(ctx, s.behind.seq+1)", packages: []string{"./uistream"},
		},
		{
			name: "a turn ends as soon as its last subscriber leaves", promise: stays, file: "session/subscribers.go",
			text: "\twait := l.hub.GracePeriod\n", other: "\twait := 0 * l.hub.GracePeriod\n", packages: []string{"./session"},
		},
		{
			name: "a stop hits the turn that runs, whichever it names", promise: stays, file: "session/prompt.go",
			text: "\tif id != \"\" {\n\t\tif t := l.turns[id]; t != nil", other: "\tif id != \"\" && l.turns[id] != nil {\n\t\tif t := l.turns[id]; t != nil", packages: []string{"./session"},
		},
		{
			name: "an agent that ignores a stop goes on", promise: stays, file: "session/turn.go",
			text: "\t\t\t_ = session.Close()\n", other: "", packages: []string{"./session"},
		},
		{
			name: "the silence of an agent counts while a tool runs", promise: stays, file: "session/turn.go",
			text: "if a.Tools > 0 || a.Asks > 0 {", other: "if a.Asks > 0 {", packages: []string{"./session"},
		},
		{
			name: "a stop begins the next prompt of the queue", promise: once, file: "session/prompt.go",
			text: "if hold && began {", other: "if hold && !began {", tests: "Holds", packages: []string{"./session"},
		},
		{
			name: "a crash loses the prompts that wait", promise: once, file: "session/recover.go",
			text: "case !ran && !known && !ref.Held && len(records) > 0", other: "case !ran && !known && !ref.Held && len(records) > 1000", tests: "Restart", packages: []string{"./session"},
		},
		{
			name: "a turn does not say that the gateway was shut down", promise: once, file: "session/turn.go",
			text: "case \"shutdown\":", other: "case \"shut down\":", packages: []string{"./session"},
		},
		{
			name: "a prompt starts before it is on record", promise: once, file: "session/turn.go",
			text: "if inMemory && t.builder.Flush() != nil || !t.syncAgent() {", other: "if inMemory && t.builder == nil || !t.syncAgent() {", packages: []string{"./session"},
		},
		{
			name: "an agent remembers what was removed", promise: rewound, file: "session/rewind.go",
			text: "\t\tl.info.Resume = back.from\n\t\tl.agentStale++", other: "\t\tl.info.Resume = back.from", packages: []string{"./session"},
		},
		{
			name: "a user removes what another user has said", promise: rewound, file: "session/rewind.go",
			text: "if m.User && m.By != p.By {", other: "if m.User && m.By != p.By && m.ID == p.Message.ID {", packages: []string{"./session"},
		},
		{
			name: "a second person hears that their answer counts", promise: oneAnswer, file: "trace/request.go",
			text: "\t\tq.Answer = q.canceled()\n\t}\n\treturn q.first()\n", other: "\t\tq.Answer = q.canceled()\n\t}\n\treturn nil\n", packages: []string{"./trace", "./session"},
		},
		{
			name: "a viewer answers a permission request", promise: oneAnswer, file: "gateway/authz/rights.go",
			text: "if !passThrough && access.Any(a.Approvers, p) {", other: "if !passThrough && (access.Any(a.Approvers, p) || role.Allows(access.Viewer)) {", tests: "Permi|Role|Access|Approv|May|Viewer", packages: []string{"./gateway"},
		},
		{
			name: "a yes answers a request that the page does not show", promise: oneAnswer, file: "session/textanswer.go",
			text: "\tcase unseen:\n\t\treturn nil, nil, ErrStale\n", other: "", packages: []string{"./session"},
		},
		{
			name: "the reason of a denial is lost", promise: oneAnswer, file: "policy/permission/option.go",
			text: "trace.PermissionResponse{Outcome: trace.Selected, OptionKind: kind, Reason: reason}", other: "trace.PermissionResponse{Outcome: trace.Selected, OptionKind: kind}", tests: "Reason", packages: []string{"./session"},
		},
		{
			name: "a grant for one more call stays", promise: oneAnswer, file: "session/grants.go",
			text: "if !ok || g.Scope == permission.GrantOnce && !l.revoke(g.ID) {", other: "if !ok {", packages: []string{"./session"},
		},
		{
			name: "a reader does not see the characters that change the order of a text", promise: shown, file: "internal/quote/visible.go",
			text: "unicode.Cc, unicode.Cf, ", other: "unicode.Cc, ", packages: []string{"./internal/quote"},
		},
		{
			name: "an option that allows may be called No", promise: shown, file: "internal/quote/option.go",
			text: "\treturn effect + name\n", other: "\treturn effect[:0] + name\n", packages: []string{"./internal/quote"},
		},
		{
			name: "an input that a browser would change is not shown as written", promise: shown, file: "internal/quote/inputtext.go",
			text: "\t\t\tif _, twice := keys[key]; twice {\n", other: "\t\t\tif _, twice := keys[key]; twice && key == \"\" {\n", packages: []string{"./internal/quote"},
		},
		{
			name: "a request never expires", promise: waits, file: "session/pause.go",
			text: "\t\t\tt.expire(func(r trace.Request) bool { return r.ID == oldest.ID })\n", other: "\t\t\tt.expire(func(r trace.Request) bool { return r.ID != oldest.ID })\n", packages: []string{"./session"},
		},
		{
			name: "a turn that waits for a person ends with its connection", promise: waits, file: "session/subscribers.go",
			text: "t.state != turnstate.Paused && !t.state.Stopped()", other: "t.state != turnstate.Released && !t.state.Stopped()", packages: []string{"./session"},
		},
		{
			name: "a tab that returns misses the event after its mark", promise: tabs, file: "session/events.go",
			text: "if r.Seq <= at {", other: "if r.Seq <= at+1 {", packages: []string{"./session"},
		},
		{
			name: "a client gets a part of a release that is newer", promise: known, file: "uistream/release.go",
			text: "return v.minor > 0 || v.patch >= s[i]", other: "return v.minor > 0 || v.patch >= s[i]-1", packages: []string{"./uistream"},
		},
		{
			name: "a client that takes nothing is not cut", promise: slow, file: "uistream/writer.go",
			text: "\t\t\tw.limit(d)\n", other: "\t\t\tw.until = d\n", packages: []string{"./uistream"},
		},
		{
			name: "a session takes any number of prompts", promise: slow, file: "session/prompt.go",
			text: "if l.busy() && len(l.queue)+len(l.info.Held()) >= l.hub.MaxQueue {", other: "if l.busy() && len(l.queue) > 1000*l.hub.MaxQueue {", packages: []string{"./session"},
		},
		{
			name: "a principal opens any number of streams", promise: slow, file: "gateway/limit/limiter.go",
			text: "\ts.streams++\n", other: "", packages: []string{"./gateway/limit"},
		},
		{
			name: "the cookie counts in a page of another site", promise: closedOff, file: "access/guard.go",
			text: "if a.from != own && !(a.from == unsaid && ourSite(a.site)) {", other: "if a.from == foreign {", packages: []string{"./access"},
		},
		{
			name: "a token that only resembles a configured one counts", promise: closedOff, file: "access/keyring.go",
			text: "subtle.ConstantTimeCompare(now[:], digest)", other: "subtle.ConstantTimeCompare(now[:1], digest[:1])", packages: []string{"./access"},
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
			text: "\tif slices.ContainsFunc(named[:min(len(named), mostPaths)], s.Closed) {\n\t\treturn yes\n\t}\n", other: "", packages: []string{"./policy/permission"},
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
			name: "Claude Code gets no image", promise: files, file: "adapter/claude/input.go",
			text: "\tcase shown && file.Inline:\n", other: "\tcase shown && file.Inline && file.OnWeb():\n", tests: "File|Sent", packages: []string{"./adapter/claude"},
		},
		{
			name: "cached tokens are lost in a sum", promise: usage, file: "trace/usage.go",
			text: "\tu.CacheReadTokens += more.CacheReadTokens\n", other: "", packages: []string{"./trace"},
		},
	}
}
