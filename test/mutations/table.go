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
			name: "a grant covers a call for which a rule asks", promise: oneAnswer, file: "policy/permission/grant.go",
			text: "g.Kind != c.ToolKind || p.Reserves(c, s) {", other: "g.Kind != c.ToolKind {", tests: "Grant", packages: []string{"./policy/permission"},
		},
		{
			name: "an always is offered where a rule asks", promise: oneAnswer, file: "policy/permission/grant.go",
			text: "\tif p.Reserves(c, s) {\n\t\treturn Grant{}\n\t}\n", other: "", tests: "HowFar", packages: []string{"./session"},
		},
		{
			name: "an agent keeps an always by itself", promise: oneAnswer, file: "agent/agentkit/asked.go",
			text: "if r.OptionKind == trace.AllowAlways && i >= 0 {", other: "if r.OptionKind == trace.AllowAlways && i > len(options) {", tests: "Always|Replies", packages: []string{"./adapter/acp", "./adapter/opencode"},
		},
		{
			name: "a call that a grant allows leaves no record", promise: oneAnswer, file: "trace/openrequest.go",
			text: " && d.Answer.Allowed() && d.Answer.By == byPolicy", other: " && d.Answer.Allowed()", tests: "Quiet", packages: []string{"./trace"},
		},
		{
			name: "an allowed edit covers the text of another key", promise: oneAnswer, file: "policy/toolkind/change.go",
			text: "for _, key := range wholeKeys() {", other: "for key := range in {", tests: "CoversNoMore", packages: []string{"./adapter/acp"},
		},
		{
			name: "a piece that is not in the file covers a write", promise: oneAnswer, file: "policy/toolkind/change.go",
			text: "\t\treturn \"\", false\n\tcase c.All:", other: "\t\treturn c.After, true\n\tcase c.All:", tests: "CoversNo", packages: []string{"./adapter/acp"},
		},
		{
			name: "a patch that deletes is an edit", promise: oneAnswer, file: "policy/toolkind/codex.go",
			text: "return trace.ToolDelete", other: "kind = trace.ToolEdit", tests: "Patch", packages: []string{"./policy/toolkind"},
		},
		{
			name: "a grant that another gateway revoked counts", promise: oneAnswer, file: "eventlog/sqllog/grants.go",
			text: "DELETE FROM grants WHERE agent = $1 AND id = $2", other: "UPDATE grants SET doc = doc WHERE agent = $1 AND id = $2", tests: "RevokedGrant", packages: []string{"./session"},
		},
		{
			name: "a revoked grant comes back from the file of an earlier version", promise: oneAnswer, file: "session/agentgrants.go",
			text: "return os.Remove(path)", other: "return nil", tests: "EarlierVersionCount", packages: []string{"./session"},
		},
		{
			name: "a grant for a command covers another one", promise: oneAnswer, file: "policy/permission/grant.go",
			text: "!slices.Contains(remarks, name)", other: "!slices.Contains(append(remarks, \"command\"), name)", tests: "Grants", packages: []string{"./policy/permission"},
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
			name: "the cookie of an app alone counts", promise: closedOff, file: "access/signin.go",
			text:  "\tcase page == \"\":\n\t\treturn sender{}, pageSecretMissing()\n\tcase subtle.",
			other: "\tcase page == \"\" && !g.app:\n\t\treturn sender{}, pageSecretMissing()\n\tcase page != \"\" && subtle.", tests: "TestAnApp", packages: []string{"./internal/cli"},
		},
		{
			name: "every token in an address of an app is taken for one of the gateway", promise: closedOff, file: "access/exchange.go",
			text: "return known || strings.HasPrefix(token, tokenMark)", other: "return known || token != \"\"", tests: "TestAnApp", packages: []string{"./internal/cli"},
		},
		{
			name: "the admin token counts although it is off", promise: closedOff, file: "internal/cli/auth.go",
			text: " && c.Auth.AdminToken != config.AdminTokenOff {", other: " && c.Auth.AdminToken != \"no\" {", tests: "AdminToken", packages: []string{"./internal/cli"},
		},
		{
			name: "the admin token is off although nobody else is admin", promise: closedOff, file: "config/front.go",
			text: "case c.Auth.AdminToken != AdminTokenOff || admin:", other: "case c.Auth.AdminToken != AdminTokenOff || len(c.Auth.Tokens) > 0:", packages: []string{"./config"},
		},
		{
			name: "a person is signed in whom the provider has refused", promise: signed, file: "access/confirm.go",
			text: "case errors.Is(err, ErrSignInOver):", other: "case errors.Is(err, ErrSignInOver) && told.Claims != nil:", tests: "TestTheProvider", packages: []string{"./access"},
		},
		{
			name: "a sign-in without a refresh token lasts", promise: signed, file: "access/confirm.go",
			text: "case was.Refresh == nil, age >= awayFor, g.openID == nil:", other: "case age >= awayFor, g.openID == nil:\n\t\treturn g.over(ctx, e)\n\tcase was.Refresh == nil:\n\t\treturn refusal{}\n\tcase age < 0:", tests: "OlderProgram", packages: []string{"./access"},
		},
		{
			name: "several gateways use up one refresh token", promise: signed, file: "access/store.go",
			text: "o.ID == e.ID && bytes.Equal(o.Doc, was)", other: "o.ID == e.ID && (bytes.Equal(o.Doc, was) || len(was) > 0)", tests: "TestOneGateway", packages: []string{"./access"},
		},
		{
			name: "the sign-ins of a person end but for one", promise: signed, file: "access/signin.go",
			text: "\t\tif i.User != user {", other: "\t\tif i.User != user || ended > 0 {", tests: "TestPeopleSignIn", packages: []string{"./internal/cli"},
		},
		{
			name: "a sign-in reads those of all people", promise: slow, file: "access/accessdb/store.go",
			text: "` AND owner IN ($3, '')`", other: "` AND ($3 <> '')`", tests: "TestStores", packages: []string{"./access/accessdb"},
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
			name: "config check is silent of an agent that runs as the gateway's user", promise: oneAnswer, file: "internal/cli/grants.go",
			text: "case !local || !severalConfigured(s.Config) || s.confined(name):", other: "case !local || !severalConfigured(s.Config) || s.confined(name) || len(s.Auth.Approver) > 1:", tests: "TestAGatewayWarns", packages: []string{"./internal/cli"},
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
			name: "a process inherits the environment of the gateway", promise: inside, file: "internal/procio/process.go",
			text: "return append([]string{}, env...)", other: "return env", tests: "Inherits", packages: []string{"./internal/procio"},
		},
		{
			name: "an agent gets a variable with a secret", promise: inside, file: "session/agentset/environ.go",
			text: "\t\treturn g.secret(v)\n", other: "\t\treturn false && g.secret(v)\n", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "pass_env passes a secret on", promise: inside, file: "session/agentset/environ.go",
			text: "for _, v := range a.PassEnv {\n\t\tif g.secret(v) {", other: "for _, v := range a.PassEnv {\n\t\tif g.secret(v) && false {", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "an agent of the library gets the server's environment", promise: inside, file: "session/agentset/runtime.go",
			text: "\t\ta, err = g.process(a, ours)\n", other: "\t\ta.Settings.Environ = ours\n", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "an environment with a secret is taken", promise: inside, file: "session/agentset/runtime.go",
			text: "g.secret(v) {", other: "g.secret(v) && false {", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "the data directory lies in a workspace", promise: inside, file: "session/agentset/overlap.go",
			text: "case g.Data != \"\" && overlap(g.Data, cwd):", other: "case g.Data != \"\" && Within(cwd, g.Data):", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "an agent may read a secret in its workspace unasked", promise: inside, file: "session/agentset/overlap.go",
			text: "case !a.Kind.KeepsClosed && len(secrets) > 0:", other: "case a.Kind.KeepsClosed && len(secrets) > 0:", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "the library does not look at workspaces", promise: inside, file: "agents.go",
			text: "conflict := g.Apart(known[name]); conflict != nil {", other: "conflict := g.Apart(known[name]); conflict != nil && false {", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "an argument may switch permission requests off", promise: inside, file: "session/agentset/runtime.go",
			text: "case a.bypass() != \"\":", other: "case a.bypass() != \"\" && a.Settings.Preset != \"\":", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "an agent that asks nobody runs", promise: inside, file: "session/agentset/runtime.go",
			text: "case a.preset.AsksNobody:", other: "case a.preset.AsksNobody && a.Kind.Harmless:", tests: "MountedGateway", packages: []string{"."},
		},
		{
			name: "an agent of the library has no more than its program says", promise: inside, file: "session/agentset/runtime.go",
			text: "is := s.Runtime.(agent.Describer); is {", other: "is := s.Runtime.(agent.Describer); is && false {", tests: "RuntimeTells", packages: []string{"./internal/cli"},
		},
		{
			name: "files with secrets are open to agents", promise: inside, file: "session/agentset/gateway.go",
			text: "slices.Concat(o.Closed, g.SecretFiles, g.Closed)", other: "slices.Concat(o.Closed, g.Closed[:0])", tests: "InTheWorkspaceAreClosed", packages: []string{"./internal/cli"},
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
			text: "hookDecision{in.Event, \"ask\", ", other: "hookDecision{in.Event, \"allow\", ", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "the policy does not judge what works on Claude Code's own state", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "case in.Tool == \"Skill\":", other: "case in.Tool == \"Skill\" || own(in.Tool):", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "a shell line that was denied runs", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "v.Decision, v.Reason = \"deny\", agentkit.Refusal(r)", other: "v.Reason = agentkit.Refusal(r)", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
		},
		{
			name: "an edited shell line runs as it was", promise: oneAnswer, file: "adapter/claude/hook.go",
			text: "} else if len(r.UpdatedInput) > 0 {", other: "} else if len(r.UpdatedInput) > 0 && v.Reason != \"\" {", tests: "EveryCall|WithoutHooks|Unguarded", packages: []string{"./adapter/claude"},
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
			name: "an \"always\" of Claude Code is kept by nobody", promise: oneAnswer, file: "internal/cli/adapters.go",
			text: "Name: \"claude\", Files: true, KeepsClosed: true,", other: "Name: \"claude\", Files: true, KeepsClosed: true, Remembers: true,", tests: "KeepAnAlways", packages: []string{"./internal/cli"},
		},
		{
			name: "a model reviews what Codex asks", promise: oneAnswer, file: "adapter/codex/protocol.go",
			text: ", \"approvalsReviewer\": \"user\"}", other: "}", packages: []string{"./adapter/codex"}, tests: "Suite|Ugly|Option",
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
