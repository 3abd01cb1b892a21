package main

// boxPromises are broken promises about what the processes of agents reach.
func boxPromises() []mutation {
	return []mutation{
		{
			name: "a box closes nothing", promise: boxed, file: "policy/box/cover_linux.go",
			text: "if err != nil || len(closed) == 0 {", other: "if err != nil || len(closed) >= 0 {", tests: "TestAGuard", packages: []string{"./policy/box"},
		},
		{
			name: "a strict box opens everything", promise: boxed, file: "policy/box/allow_linux.go",
			text: "append(o.programs(), o.Rule.Read...)", other: "append(o.programs(), \"/\")", tests: "TestStrict", packages: []string{"./policy/box"},
		},
		{
			name: "a link in the place of an open path opens its target", promise: boxed, file: "policy/box/allow_linux.go",
			text: "func(path string) bool { return isBelow(path, all) }", other: "func(path string) bool { return isBelow(path, nil) }", tests: "TestALinkInThePlace", packages: []string{"./policy/box"},
		},
		{
			name: "what somebody has moved is open to the next agent", promise: boxed, file: "session/box.go",
			text: "return h.places.Now(all)", other: "return all", tests: "ADataDirectoryThatIsMoved", packages: []string{"./internal/cli"},
		},
		{
			name: "a process gives the directory above a closed file another name", promise: boxed, file: "policy/box/cover_linux.go",
			text: "unix.Access(filepath.Dir(dir), unix.W_OK) == nil", other: "unix.Access(filepath.Dir(dir), unix.W_OK) == unix.EPERM", tests: "TestARenamedDirectory", packages: []string{"./policy/box"},
		},
		{
			name: "a process inherits what was left open to the gateway", promise: boxed, file: "policy/box/user_linux.go",
			text: "err == nil && fd > 2 {", other: "err == nil && fd > 200 {", tests: "TestAGuard", packages: []string{"./policy/box"},
		},
		{
			name: "a process of root sets what the kernel runs", promise: boxed, file: "policy/box/cover_linux.go",
			text: "if os.Geteuid() != 0 {", other: "if os.Geteuid() >= 0 {", tests: "SetsNothingOfTheKernel", packages: []string{"./policy/box"},
		},
		{
			name: "agents reach the socket of the database", promise: boxed, file: "session/agentset/database.go",
			text: "return append(all, sockets(at)...)", other: "return all", tests: "TestTheSocketOfTheDatabase", packages: []string{"./session/agentset"},
		},
		{
			name: "an agent whose box is required runs without", promise: boxed, file: "policy/box/rule.go",
			text: "if s.Required && reason != \"\" {", other: "if s.Required && reason == \"required\" {", tests: "KernelGivesNoBox", packages: []string{"./internal/cli"},
		},
		{
			name: "every host is allowed", promise: reached, file: "policy/egress/proxy.go",
			text: "\tif s.Hosts.Allow(t) {\n", other: "\tif s.Hosts.Allow(t) || t.Port != 0 {\n", tests: "Refuses|Elsewhere", packages: []string{"./policy/egress"},
		},
		{
			name: "a name may lead to this machine", promise: reached, file: "policy/egress/proxy.go",
			text: "\t\treturn s.lead(at.Addr().WithZone(\"\").Unmap(), t.Port)\n", other: "\t\t_ = at\n\t\treturn nil\n", tests: "TestAName", packages: []string{"./policy/egress"},
		},
		{
			name: "a process has the network of the gateway", promise: reached, file: "policy/box/confine_linux.go",
			text: "\t\tattr.Cloneflags |= syscall.CLONE_NEWNET\n", other: "", tests: "TestANetwork", packages: []string{"./policy/box"},
		},
		{
			name: "an agent gets a variable with a secret", promise: inside, file: "session/agentset/environ.go",
			text: "return g.secret(v) || a.user", other: "return a.user", tests: "MountedGateway", packages: []string{"."},
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
			text: "all := slices.Concat(g.SecretFiles, g.Closed)", other: "all := slices.Clone(g.Closed[:0])", tests: "InTheWorkspaceAreClosed", packages: []string{"./internal/cli"},
		},
		{
			name: "an agent's box leaves the workspaces of other sessions open", promise: closedOff, file: "session/box.go",
			text: "append(slices.Clone(all), h.Workspaces.Dir())", other: "slices.Clone(h.Closed)", tests: "ABoxCloses", packages: []string{"./session"},
		},
		{
			name: "an agent's processes keep the gateway's user", promise: closedOff, file: "policy/box/user_linux.go",
			text: "unix.Setresuid(u.UID, u.UID, u.UID)", other: "unix.Setresuid(-1, -1, -1)", tests: "AProgramOfAnotherUser", packages: []string{"./policy/box"},
		},
		{
			name: "an agent's processes keep the gateway's groups", promise: closedOff, file: "policy/box/user_linux.go",
			text: "unix.Setgroups(u.Groups)", other: "unix.Setgroups([]int{u.GID})", tests: "AProgramOfAnotherUser", packages: []string{"./policy/box"},
		},
	}
}
