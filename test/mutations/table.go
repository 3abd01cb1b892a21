package main

import "slices"

// The promises that the table breaks.
const (
	survive    = "Finished parts survive a crash."
	oneWriter  = "One gateway writes a session."
	damaged    = "The gateway reports a damaged log."
	resumed    = "A resumed message equals an uninterrupted one."
	stays      = "A disconnect is not a stop."
	once       = "A prompt runs once, in its turn, or is held, or stays in the history as not run."
	rewound    = "After a regenerate or an edit nothing remembers the removed messages."
	oneAnswer  = "A request has one answer, from a person who may give it."
	shown      = "A person sees the whole input that they are asked about."
	waits      = "A turn waits for its answer without a connection, for 24 h."
	anyGateway = "Any gateway takes any request."
	tabs       = "Events tell other tabs of each turn."
	known      = "A client gets only what its release knows."
	slow       = "A slow client harms nobody. Every principal, session, turn and connection has limits."
	closedOff  = "Without a token nothing is open."
	private    = "A private session is open to its owner and its members only."
	signed     = "A JSON Web Token counts until it expires."
	widget     = "Only the pages that the setting names show the widget's chat."
	voice      = "An agent speaks neither as the gateway nor as a person."
	reached    = "An agent reaches the hosts that `egress` names, and no others."
	inside     = "\"Inside the workspace\" means inside."
	mentions   = "No part of a prompt makes an agent read a file outside the workspace unasked."
	settings   = "A settings file of the workspace that starts programs or allows calls counts once it is allowed."
	files      = "The agent gets the files of a prompt."
	boxed      = "An agent's processes reach only what its box opens."
	usage      = "The usage of a turn is what its agent has used."
)

// table is the broken promises, in the order of docs/internals/promises.md. Each is an error that
// somebody could make who changes the line.
func table() []mutation {
	return slices.Concat(firstPromises(), guardPromises(), boxPromises(), clusterPromises())
}

func firstPromises() []mutation {
	return []mutation{
		{
			name: "SQLite does not sync durable commits", promise: survive, file: "eventlog/sqllog/sqlite.go",
			text: "\t\tmode = w.durable\n", other: "\t\tmode = \"NORMAL\"\n", tests: "SQLite", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a durable record is not synced", promise: survive, file: "eventlog/sqllog/writer.go",
			text: "sync = sync || o.synced()", other: "sync = sync || o.synced() && len(ops) > 1", tests: "SQLite", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a turn that a restart cut off is not closed", promise: survive, file: "session/takeup.go",
			text: "error { return l.takeUpTurns(ctx, restarted()) })", other: "error { return l.save(ctx) })", packages: []string{"./session"},
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
			name: "a gateway shows text while others judge it dead", promise: oneWriter, file: "eventlog/sqllog/lease.go",
			text: "int64(min(judgeAfter, s.opts.Lease))", other: "int64(s.opts.Lease)", tests: "ForLongerThanOthersWait", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a stopped gateway is dead before its lease is over", promise: oneWriter, file: "eventlog/sqllog/others.go",
			text: "if dead = !held && silent >= judgeAfter; held {", other: "if dead = silent >= judgeAfter; held && dead {", tests: "AStoppedProcess", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a gateway that has just lost its database judges others", promise: oneWriter, file: "eventlog/sqllog/others.go",
			text: "if dead && o.judge() {", other: "if dead {", tests: "CannotRenew", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a session is taken from an owner that renews its lease", promise: oneWriter, file: "eventlog/sqllog/postgres.go",
			text: "share: ` FOR SHARE`", other: "share: ``", tests: "ARenewalWaits", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "the checksum of a record leaves out what the record says", promise: damaged, file: "eventlog/sqllog/sum.go",
			text: "sum(0).text(r.session).seqs(r.seq, r.prev).bytes(r.body)", other: "sum(0).text(r.session).seqs(r.seq, r.prev)", tests: "Flipped|Damaged", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a gateway starts on a damaged file", promise: damaged, file: "eventlog/sqllog/sqlite.go",
			text: "case err == nil && found != \"ok\":", other: "case err == nil && found == \"\":", tests: "Damaged", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a gateway starts on a journal that lacks commits", promise: damaged, file: "eventlog/sqllog/journal.go",
			text: "return counted > 0 && wholeFrames", other: "return counted > 1<<30 && wholeFrames", tests: "Damaged", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "recover does not count lost records", promise: damaged, file: "eventlog/sqllog/recover.go",
			text: "\t\t\t\tone.Lost++\n", other: "\t\t\t\tone.Lost = 0\n", tests: "RecoverReads", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a session whose newest records recover cannot read counts as whole", promise: damaged, file: "eventlog/sqllog/recover.go",
			text: "errors.Join(r.addTurns(ctx), r.addLost(ctx))", other: "r.addTurns(ctx)", tests: "RecoverReads", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "the damage of a session is not reported", promise: damaged, file: "eventlog/sqllog/damage.go",
			text: "\t\tknown[what] = struct{}{}\n", other: "\t\tdelete(d.sessions, session)\n", tests: "Flipped|Damaged", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "the rest of a message begins one record late", promise: resumed, file: "uistream/subscriber.go",
			text: "case r.Seq < s.span.From:", other: "case r.Seq <= s.span.From:", packages: []string{"./uistream"},
		},
		{
			name: "a subscriber that is behind reads the log one record late", promise: resumed, file: "uistream/subscriber.go",
			text: "s.source.Records(ctx, s.seq)", other: "s.source.Records(ctx, s.seq+1)", packages: []string{"./uistream"},
		},
		{
			name: "a turn ends as soon as its last subscriber leaves", promise: stays, file: "session/subscribers.go",
			text: "\twait := l.hub.GracePeriod\n", other: "\twait := 0 * l.hub.GracePeriod\n", packages: []string{"./session"},
		},
		{
			name: "a stop hits the turn that runs, whichever it names", promise: stays, file: "session/stop.go",
			text: "\tif id != \"\" {\n\t\tif t := l.turns[id]; t != nil", other: "\tif id != \"\" && l.turns[id] != nil {\n\t\tif t := l.turns[id]; t != nil", packages: []string{"./session"},
		},
		{
			name: "an agent that ignores a stop goes on", promise: stays, file: "session/turn.go",
			text: "\t\t\t_ = session.Close()\n", other: "", packages: []string{"./session"},
		},
		{
			name: "the silence of an agent counts while a tool runs", promise: stays, file: "session/turn.go",
			text: "if a.Tools > 0 || a.Asks > 0 ||", other: "if a.Asks > 0 ||", packages: []string{"./session"},
		},
		{
			name: "a turn that begins behind its prompt does not end where the log fails", promise: once, file: "session/prompt.go",
			text: "onRecord := len(before) == 0", other: "onRecord := len(before) < 0", tests: "BeginsBehindItsPrompt", packages: []string{"./session"},
		},
		{
			name: "a stop begins the next prompt of the queue", promise: once, file: "session/stop.go",
			text: "if s.Hold && began {", other: "if s.Hold && !began {", tests: "Holds", packages: []string{"./session"},
		},
		{
			name: "a crash loses the prompts that wait", promise: once, file: "session/takeup.go",
			text: "case !ran && !known && !ref.Held && len(records) > 0", other: "case !ran && !known && !ref.Held && len(records) > 1000", tests: "Restart", packages: []string{"./session"},
		},
		{
			name: "a turn does not say that the gateway was shut down", promise: once, file: "session/turn.go",
			text: "case \"shutdown\":", other: "case \"shut down\":", packages: []string{"./session"},
		},
		{
			name: "a prompt starts before it is on record", promise: once, file: "session/turn.go",
			text: "if !onRecord && t.builder.Flush() != nil || !t.syncAgent() {", other: "if !onRecord && t.builder == nil || !t.syncAgent() {", packages: []string{"./session"},
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
			name: "a revoked grant comes back from the file of an earlier version", promise: oneAnswer, file: "policy/permission/book.go",
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
			name: "a history has an answer without parts", promise: known, file: "uistream/history.go",
			text: "m.Role == roleUser || len(m.Parts) > 0", other: "m.Role == roleUser || len(m.Parts) >= 0", tests: "TestHistoryOfARunningTurn", packages: []string{"./uistream"},
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
			name: "a prompt that is sent again begins a turn", promise: "A request with a key acts once.", file: "session/requestkey.go",
			text: "if p.Key == \"\" {", other: "if true {", tests: "ActsOnceForEachKey", packages: []string{"./session"},
		},
		{
			name: "the key of one is good for everybody's requests", promise: "A request with a key acts once.", file: "session/requestkey.go",
			text: `"\x00" + by + "`, other: `"\x00" + "`, tests: "AKeyIsOneSenders", packages: []string{"./session"},
		},
		{
			name: "a stop that is sent again ends the next turn", promise: "A request with a key acts once.", file: "session/stop.go",
			text: "if suffix == \"\" || i < 0 {", other: "if suffix == \"\" || i <= 0 {", tests: "AStopActsOnce", packages: []string{"./session"},
		},
		{
			name: "two processes of Codex start at a time", promise: boxed, file: "adapter/codex/runtime.go",
			text: "make(chan struct{}, 1)", other: "make(chan struct{}, 2)", tests: "TestProcessesOfCodex", packages: []string{"./adapter/codex"},
		},
	}
}
