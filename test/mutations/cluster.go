package main

// clusterPromises are broken promises about several gateways on one database.
func clusterPromises() []mutation {
	return []mutation{
		{
			name: "a gateway answers for a session of another one", promise: anyGateway, file: "gateway/owner.go",
			text: `g.Cluster.Forward(w, r, passed.session, `, other: `g.Cluster.Forward(w, r, r.PathValue("turn"), `, tests: "TestAnyGateway", packages: []string{"./internal/cli"},
		},
		{
			name: "a gateway of no database is believed", promise: anyGateway, file: "gateway/cluster/identity.go",
			text: "len(g.Key) > 0 && bytes.Equal(g.Key, key)", other: "len(g.Key) > 0 && (bytes.Equal(g.Key, key) || len(key) > 0)", tests: "TestOnlyGateways", packages: []string{"./gateway/cluster"},
		},
		{
			name: "the others are left before the turns have ended", promise: anyGateway, file: "internal/cli/server.go",
			text: "context.WithCancel(context.WithoutCancel(ctx)) // until", other: "context.WithCancel(ctx) // until", tests: "TestAStoppedGatewayHandsItsRemoteTurnsOver", packages: []string{"./internal/cli"},
		},
		{
			name: "a gateway that stops cuts what it passes on", promise: anyGateway, file: "internal/cli/server.go",
			text: "\ts.node.EndStreams(draining)\n", other: "", tests: "TestAStoppedGatewayCutsNoStream", packages: []string{"./internal/cli"},
		},
		{
			name: "an outage beyond a lease ends turns", promise: anyGateway, file: "session/ownership.go",
			text: "now.Lease <= 0 && now.Outage > 0", other: "now.Lease <= 0 && now.Outage < 0", tests: "TestAnOutageOfPostgreSQL", packages: []string{"./internal/cli"},
		},
		{
			name: "a gateway goes on without what it has written", promise: survive, file: "eventlog/sqllog/unusable.go",
			text: "if err == nil && !there {", other: "if err != nil && !there {", tests: "TestADatabaseThatLacksCommits", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a loss leaves no gap in the numbers", promise: survive, file: "eventlog/sqllog/unusable.go",
			text: "s.beginNumbersAnew(ctx); err != nil", other: "ctx.Err(); err != nil", tests: "TestADatabaseThatLacksCommits", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a copy that is restored twice gives numbers twice", promise: survive, file: "eventlog/sqllog/session.go",
			text: "\tse.last = max(se.last, now.numbersFrom)\n", other: "", tests: "TestACopyOfARunningDatabase", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a deletion counts as a loss", promise: survive, file: "eventlog/sqllog/unusable.go",
			text: "deleted_through >= $2)`", other: "deleted_through > $2 + 1000000000)`", tests: "TestADeletedSession", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "two gateways have one name", promise: oneWriter, file: "eventlog/sqllog/gateways.go",
			text: "if err = s.checkName(ctx, tx); err == nil {", other: "if err == nil {", tests: "TestAGatewayWhoseDataDirectory", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "a gateway does not end when its store must not go on", promise: survive, file: "internal/cli/server.go",
			text: "\tcase <-s.log.Unusable():\n", other: "\tcase <-make(chan struct{}):\n", tests: "TestAGatewayEndsWhose", packages: []string{"./internal/cli"},
		},
		{
			name: "the agent of a session that was taken goes on", promise: anyGateway, file: "session/outage.go",
			text: "\t\ts.closeLostAgents()\n", other: "", tests: "TestAnAgentWhoseSessionWasTaken", packages: []string{"./internal/cli"},
		},
		{
			name: "agents work while others may take their sessions", promise: anyGateway, file: "session/outage.go",
			text: "\t\t\ts.suspended.Add(s.StateDir)\n", other: "", tests: "TestAnAgentWhoseSessionWasTaken", packages: []string{"./internal/cli"},
		},
		{
			name: "a tool runs before its call is on record", promise: anyGateway, file: "agent/toolloop/call.go",
			text: "if err := l.b.Flush(); err != nil {", other: "if err := error(nil); err != nil {", tests: "TestACallRuns", packages: []string{"./agent/toolloop"},
		},
		{
			name: "a gateway without the memory keeps the session", promise: anyGateway, file: "session/home.go",
			text: "\tl.hub.Log.LetGo(l.id)\n", other: "", tests: "TestAPromptGoesWhere", packages: []string{"./internal/cli"},
		},
		{
			name: "an agent that does not open has its memory there", promise: anyGateway, file: "session/opening.go",
			text: "\tif err == nil {\n\t\tl.moveHome()", other: "\tif true {\n\t\tl.moveHome()", tests: "TestAnAgentThatDoesNotOpen", packages: []string{"./session"},
		},
		{
			name: "what PostgreSQL has forgotten is not written again", promise: anyGateway, file: "eventlog/sqllog/unsynced.go",
			text: "u.connections == connections &&", other: "", tests: "TestARecordThatPostgreSQLForgets", packages: []string{"./eventlog/sqllog"},
		},
		{
			name: "an agent begins elsewhere without its memory", promise: anyGateway, file: "session/home.go",
			text: "at.Gateway == l.hub.Home.Gateway", other: "at.Gateway != l.hub.Home.Gateway", tests: "TestThePromptsOfASession", packages: []string{"./session"},
		},
		{
			name: "a session without an owner stays where it is asked for", promise: anyGateway, file: "gateway/cluster/node.go",
			text: "err == nil && !is && n.homeOf != nil", other: "err == nil && is && n.homeOf != nil", tests: "TestASessionWithoutAnOwner", packages: []string{"./gateway/cluster"},
		},
		{
			name: "a turn does not wait for clients of a gateway that has ended", promise: anyGateway, file: "gateway/stream.go",
			text: "lost := g.Cluster.PasserEnded(r)", other: "var lost func() bool", tests: "TestAStoppedGatewayCutsNoStream", packages: []string{"./internal/cli"},
		},
		{
			name: "a request shortens a long grace period", promise: anyGateway, file: "session/subscribers.go",
			text: "&& h.Now().Add(wait).After(t.subscribers.ends)", other: "", tests: "TestM06", packages: []string{"./session"},
		},
		{
			name: "the key of an owner is not looked at", promise: anyGateway, file: "gateway/cluster/node.go",
			text: "len(to.Key) > 0 && string(key) == string(to.Key)", other: "len(to.Key) > 0", tests: "TestOnlyGateways", packages: []string{"./gateway/cluster"},
		},
		{
			name: "a command is sent twice", promise: anyGateway, file: "gateway/cluster/forward.go",
			text: "case err != nil && sent && !(repeats && again):", other: "case err != nil && sent && repeats && !again:", tests: "TestACommand", packages: []string{"./gateway/cluster"},
		},
		{
			name: "what acts once is not sent to the next owner", promise: anyGateway, file: "gateway/cluster/forward.go",
			text: "repeats := t.how.Once || ", other: "repeats := ", tests: "TestWhatActsOnce", packages: []string{"./gateway/cluster"},
		},
		{
			name: "the next owner gets another key", promise: anyGateway, file: "gateway/cluster/forward.go",
			text: "WithKey(r)\n\t}\n\treturn n.pass(", other: "}\n\treturn n.pass(", tests: "TestWhatActsOnce", packages: []string{"./gateway/cluster"},
		},
		{
			name: "a stream that goes on at another gateway says words twice", promise: anyGateway, file: "uistream/position.go",
			text: "return more[min(len(more), max(0, t.had[part]-at)):]", other: "return more", tests: "TestAStreamHasEachWordOnce", packages: []string{"./uistream"},
		},
		{
			name: "a stream that goes on behind its last chunk does not end", promise: anyGateway, file: "uistream/subscriber.go",
			text: "case r.Seq < s.span.From && s.texts.had != nil:", other: "case false:", tests: "TestAStreamGoesOnBehind", packages: []string{"./uistream"},
		},
		{
			name: "a text that was open before its place is said twice", promise: anyGateway, file: "uistream/position.go",
			text: "if t.behind {", other: "if true {", tests: "TestAStreamHasEachWordOnce", packages: []string{"./uistream"},
		},
		{
			name: "a prompt loses its key with its owner", promise: anyGateway, file: "gateway/owner.go",
			text: "\t\tcluster.WithKey(r)", other: "\t\tcluster.WithKey(r.Clone(r.Context()))", tests: "TestAPromptKeepsItsKey", packages: []string{"./gateway"},
		},
		{
			name: "a gateway that stops keeps a session whose turn goes on", promise: anyGateway, file: "session/close.go",
			text: "h.Log.GiveBack(left...)", other: "h.Log.GiveBack(left[:0]...)", tests: "HandsItsRemoteTurnsOver", packages: []string{"./internal/cli"},
		},
		{
			name: "the client of a gateway that leaves a turn hears of the log", promise: anyGateway, file: "session/read.go",
			text: "r.open.standsAt() == turnstate.Detached", other: "r.open.standsAt() == turnstate.Held", tests: "HandsItsRemoteTurnsOver", packages: []string{"./internal/cli"},
		},
		{
			name: "a stream that goes on has no end for a page", promise: anyGateway, file: "gateway/passedstream.go",
			text: "query.Del(\"ended\")", other: "query.Del(\"end\")", tests: "TestAStreamGoesOnWhere", packages: []string{"./gateway"},
		},
		{
			name: "the owner is told that everybody's token is good for all sessions", promise: anyGateway, file: "gateway/cluster/sender.go",
			text: "s.Principal.Bound = s.Bound", other: "s.Principal.Bound = nil", tests: "TestTheOwner", packages: []string{"./gateway/cluster"},
		},
		{
			name: "the owner of a session gets cookies and tokens of others", promise: anyGateway, file: "gateway/cluster/sender.go",
			text: `name == "Cookie" || name == "Authorization" && !keep`, other: `name == "Cookie" && keep`, tests: "TestTheOwner", packages: []string{"./gateway/cluster"},
		},
	}
}
