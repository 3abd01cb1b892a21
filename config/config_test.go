package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

//evidence:for limit-backups
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "listen: 127.0.0.1:1\nlisten_address: x", "t.yaml:2: listen_address is not a key here: the keys are listen, metrics_listen, public_url, trusted_proxies, tls, data, db, cluster, fsync, backup, default_agent, agent_user, cwd, workspaces, log_level, app, widget, auth, sessions, limits, stream, agents, exporters"},
		{"unknown key below", "auth:\n  mode: token\n  token: abc", "t.yaml:3: auth.token is not a key here: the keys are mode, jwt, oidc, sign_in_lifetime, tokens, admin_token, pass_through, sessions, foreign_session, allow_hosts, allow_origins, groups, approver"},
		{"token in clear", "auth:\n  tokens:\n    - name: a\n      token: secret", "t.yaml:4: auth.tokens[0].token is not a key here: the keys are name, token_env, token_file, role"},
		{"unknown key of an agent", "agents:\n  x:\n    adaptor: claude", "t.yaml:3: agents.x.adaptor is not a key here: the keys are adapter, enabled, roles, command, args, env, pass_env, allow_bypass, model, cwd, workspace, policy, box, user, egress, egress_ask, tool_kinds, state, url, token_env, token_file, options"},
		{"form of a workspace", "agents:\n  x:\n    workspace: mirror", `t.yaml:3: agents.x.workspace is "mirror": write shared, worktree or copy`},
		{"no value", "listen:", "t.yaml:1: listen has no value: give it one, or remove the key"},
		{"empty section", "sessions:\nstream:\n  compat: rfc", "t.yaml:1: sessions has no value: give it one, or remove the key"},
		{"empty text", `data: ""`, "t.yaml:1: data is empty: give it a value, or remove the key"},
		{"number for text", "data: 5", "t.yaml:1: data is 5: write text, in quotation marks"},
		{"list for text", "data: [a]", "t.yaml:1: data is a list: write text, in quotation marks"},
		{"TLS without a key", "tls: {cert: a.pem}", "t.yaml:1: tls needs cert and key: name the two files of one pair"},
		{"TLS, unknown key", "tls: {cert: a.pem, key: b.pem, acme: true}", "t.yaml:1: tls.acme is not a key here: the keys are cert, key, hsts"},
		{"HSTS that is no duration", "tls: {cert: a.pem, key: b.pem, hsts: true}", "t.yaml:1: tls.hsts is true: write a duration such as 500ms, 5s or 2m"},
		{"public URL that is none", "public_url: agents.example.com", `t.yaml:1: public_url is "agents.example.com", which is no URL; write https://host or https://host:port`},
		{"public URL with a path", "public_url: https://example.com/agents", `t.yaml:1: public_url is "https://example.com/agents", which has a path; the page needs a host of its own, so write https://host`},
		{"proxy that is no address", "trusted_proxies: [proxy.local]", `t.yaml:1: trusted_proxies holds "proxy.local", which is no address and no network; write 10.0.0.7 or 10.0.0.0/8`},
		{"every address is a proxy", "trusted_proxies: [0.0.0.0/0]", `t.yaml:1: trusted_proxies holds "0.0.0.0/0", which is every address, so that every client could forge where a request comes from; name the proxies`},
		{"TLS that is one file", "tls: a.pem", `t.yaml:1: tls is "a.pem": write keys and values, each key on a line of its own`},
		{"TLS with an empty key", "tls:\n  cert: a.pem\n  key: ''", `t.yaml:3: tls.key is empty: give it a value, or remove the key`},
		{"TLS with a list of files", "tls: {cert: [a.pem], key: b.pem}", `t.yaml:1: tls.cert is a list: write text, in quotation marks`},
		{"HSTS of no time", "tls: {cert: a.pem, key: b.pem, hsts: 0s}", `t.yaml:1: tls.hsts is "0s": it must be greater than 0`},
		{"public URL that is a number", "public_url: 443", "t.yaml:1: public_url is 443: write text, in quotation marks"},
		{"public URL without a host", "public_url: https://", `t.yaml:1: public_url is "https://", which has no host that a browser could open; write https://host or https://host:port`},
		{"public URL of another scheme", "public_url: ftp://example.com", `t.yaml:1: public_url is "ftp://example.com", which is no URL; write https://host or https://host:port`},
		{"public URL with a query", "public_url: https://example.com?a=b", `t.yaml:1: public_url is "https://example.com?a=b", which is no URL; write https://host or https://host:port`},
		{"proxies that are no list", "trusted_proxies: 10.0.0.7", `t.yaml:1: trusted_proxies is "10.0.0.7": write a list, each entry on a line that begins with -`},
		{"a network that is none", "trusted_proxies: [10.0.0.0/33]", `t.yaml:1: trusted_proxies holds "10.0.0.0/33", which is no address and no network; write 10.0.0.7 or 10.0.0.0/8`},
		{"every address is a proxy, by IPv6", "trusted_proxies: ['::/0']", `t.yaml:1: trusted_proxies holds "::/0", which is every address, so that every client could forge where a request comes from; name the proxies`},
		{"no admin token, and no admin", "auth: {admin_token: off, tokens: [{name: a, role: viewer, token_env: A}]}", "t.yaml:1: auth.admin_token is off, and nobody else can be admin: let a claim of auth.oidc or auth.jwt give the role admin, or name a token with that role in auth.tokens"},
		{"no admin token, and claims without an admin", "public_url: https://a.example\nauth: {admin_token: off, oidc: {issuer: 'https://id.example', client_id: a, role_claim: g, roles: {x: viewer}}}", "t.yaml:2: auth.admin_token is off, and nobody else can be admin: let a claim of auth.oidc or auth.jwt give the role admin, or name a token with that role in auth.tokens"},
		{"an admin token in words", "auth: {admin_token: no}", `t.yaml:1: auth.admin_token is "no": write on or off`},
		{"lifetime of nothing", "auth: {sign_in_lifetime: 0s}", `t.yaml:1: auth.sign_in_lifetime is "0s": it must be greater than 0`},
		{"OIDC that is a URL", "auth: {oidc: 'https://id.example'}", `t.yaml:1: auth.oidc is "https://id.example": write keys and values, each key on a line of its own`},
		{"OIDC with an empty issuer", "auth: {oidc: {issuer: ''}}", "t.yaml:1: auth.oidc.issuer is empty: give it a value, or remove the key"},
		{"OIDC with scopes as text", "auth: {oidc: {scopes: groups}}", `t.yaml:1: auth.oidc.scopes is "groups": write a list, each entry on a line that begins with -`},
		{"OIDC with user info in words", "auth: {oidc: {user_info: 'yes'}}", `t.yaml:1: auth.oidc.user_info is "yes": write true or false`},
		{"OIDC with a list of roles", "auth: {oidc: {roles: [admin]}}", "t.yaml:1: auth.oidc.roles is a list: write keys and values, each key on a line of its own"},
		{"OIDC with an unknown role", "auth: {oidc: {roles: {x: root}}}", `t.yaml:1: auth.oidc.roles.x cannot be read: role "root" is unknown; use viewer, collaborator or admin`},
		{"widget, unknown key", "widget: {origins: [x]}", "t.yaml:1: widget.origins is not a key here: the keys are allow_origins"},
		{"widget for every page", `widget: {allow_origins: ["*"]}`, `t.yaml:1: widget.allow_origins holds "*", which is no origin of a page: write https://host or https://host:port, with no path and no wildcard`},
		{"widget for every subdomain", `widget: {allow_origins: ["https://*.example.com"]}`, `t.yaml:1: widget.allow_origins holds "https://*.example.com", which is no origin of a page: write https://host or https://host:port, with no path and no wildcard`},
		{"widget for a page", "widget: {allow_origins: [https://app.example.com/shop]}", `t.yaml:1: widget.allow_origins holds "https://app.example.com/shop", which is no origin of a page: write https://host or https://host:port, with no path and no wildcard`},
		{"widget with a policy of its own", `widget: {allow_origins: ["https://app.example.com; script-src *"]}`, `t.yaml:1: widget.allow_origins holds "https://app.example.com; script-src *", which is no origin of a page: write https://host or https://host:port, with no path and no wildcard`},
		{"widget for a host", "widget: {allow_origins: [app.example.com]}", `t.yaml:1: widget.allow_origins holds "app.example.com", which is no origin of a page: write https://host or https://host:port, with no path and no wildcard`},
		{"app that is no URL", "app: localhost:5173", "t.yaml:1: app is no URL of an app: write http://localhost:5173"},
		{"lifetime that is no duration", "auth: {sign_in_lifetime: 7 days}", `t.yaml:1: auth.sign_in_lifetime is "7 days": write a duration such as 500ms, 5s or 2m`},
		{"OIDC without an issuer", "auth: {oidc: {client_id: a}}", "t.yaml:1: auth.oidc has no issuer: write the URL of the provider, as its discovery document has it"},
		{"OIDC without a client", "auth: {oidc: {issuer: 'https://id.example'}}", "t.yaml:1: auth.oidc has no client_id: register the gateway with the provider and write the id that the provider gives"},
		{"OIDC with two secrets", "auth: {oidc: {issuer: 'https://id.example', client_id: a, client_secret_env: A, client_secret_file: a}}", "t.yaml:1: auth.oidc has client_secret_env and client_secret_file: leave one of them out"},
		{"OIDC with the secret in clear", "auth: {oidc: {client_secret: abc}}", "t.yaml:1: auth.oidc.client_secret is not a key here: the keys are issuer, client_id, client_secret_env, client_secret_file, scopes, user_info, id_claim, name_claim, role_claim, roles, default_role, group_claim"},
		{"OIDC without roles", "auth: {oidc: {issuer: 'https://id.example', client_id: a}}", "t.yaml:1: auth.oidc gives nobody a role: write role_claim, or default_role: collaborator"},
		{"OIDC with a role of no claim", "auth: {oidc: {issuer: 'https://id.example', client_id: a, default_role: viewer, roles: {x: admin}}}", "t.yaml:1: auth.oidc.roles means nothing without role_claim: name the claim that holds these words"},
		{"OIDC without a public URL", "auth: {oidc: {issuer: 'https://id.example', client_id: a, default_role: viewer}}", "t.yaml:1: auth.oidc needs public_url: write the address that people open, to which the provider sends them back"},
		{"OIDC and tokens of another issuer", "public_url: https://a.example\nauth:\n  mode: jwt\n  oidc: {issuer: 'https://id.example', client_id: a, default_role: viewer}\n  jwt:\n    issuer: 'https://id.example/'\n    audience: [a]", `t.yaml:6: auth.jwt.issuer has to be that of auth.oidc, "https://id.example", because two issuers may give one id to different people: write that issuer, or none with keys of your own, or remove auth.jwt or auth.oidc`},
		{"OIDC and tokens of any issuer", "public_url: https://a.example\nauth:\n  mode: jwt\n  oidc: {issuer: 'https://id.example', client_id: a, default_role: viewer}\n  jwt: {jwks_url: 'https://id.example/keys', audience: [a]}", `t.yaml:5: auth.jwt.issuer has to be that of auth.oidc, "https://id.example", because two issuers may give one id to different people: write that issuer, or none with keys of your own, or remove auth.jwt or auth.oidc`},
		{"OIDC with a role of a session", "auth: {oidc: {default_role: owner}}", `t.yaml:1: auth.oidc.default_role cannot be read: role "owner" is a role in a session; of the gateway there are viewer, collaborator and admin`},
		{"text for section", "auth: none", `t.yaml:1: auth is "none": write keys and values, each key on a line of its own`},
		{"text for list", "auth:\n  allow_hosts: a.b", `t.yaml:2: auth.allow_hosts is "a.b": write a list, each entry on a line that begins with -`},
		{"text for number", "sessions:\n  max_queue: many", `t.yaml:2: sessions.max_queue is "many": write a whole number`},
		{"negative number", "sessions:\n  max_queue: -1", "t.yaml:2: sessions.max_queue is -1: write a whole number greater than 0"},
		{"huge number", "sessions:\n  max_queue: 99999999999", "t.yaml:2: sessions.max_queue is 99999999999: write a whole number greater than 0"},
		{"text for truth", "stream:\n  event_lines: yes", `t.yaml:2: stream.event_lines is "yes": write true or false`},
		{"bare duration", "sessions:\n\n  grace: 5", "t.yaml:3: sessions.grace is 5: write a duration such as 500ms, 5s or 2m"},
		{"wrong duration", "sessions:\n  grace: 5 seconds", `t.yaml:2: sessions.grace is "5 seconds": write a duration such as 500ms, 5s or 2m`},
		{"no duration", "sessions:\n  grace: 0s", `t.yaml:2: sessions.grace is "0s": it must be greater than 0`},
		{"options that are no keys", "agents:\n  demo:\n    options: [1]", `t.yaml:3: agents.demo.options is a list: write keys and values, each key on a line of its own`},
		{"a cluster without a listener", "cluster: {address: a:1}", "t.yaml:1: cluster has no listen: write host:port for the other gateways, such as 10.0.0.11:8788"},
		{"a cluster at no port", "cluster: {listen: 10.0.0.1}", `t.yaml:1: cluster.listen is "10.0.0.1": write host:port, such as 127.0.0.1:8787`},
		{"back-ups without a place", "backup: {keep: 3}", "t.yaml:1: backup has no dir: name a directory for the back-ups, best on another disk"},
		{"back-ups all the time", "backup:\n  dir: /b\n  every: 59s", "t.yaml:3: backup.every is 59s: write 1m at least"},
		{"too many back-ups", "backup: {dir: /b, keep: 1001}", "t.yaml:1: backup.keep is 1001: write 1000 at most"},
		{"wrong fsync", "fsync: never", `t.yaml:1: fsync is "never": write on or off`},
		{"wrong word", "sessions:\n  on_disconnect: keep", `t.yaml:2: sessions.on_disconnect is "keep": write grace, stop or detach`},
		{"wrong busy", "sessions: {busy: wait}", `t.yaml:1: sessions.busy is "wait": write queue, reject or interrupt`},
		{"wrong approval", "sessions: {approval: wait}", `t.yaml:1: sessions.approval is "wait": write pause or hold`},
		{"wrong approver", "auth: {approver: me}", `t.yaml:1: auth.approver cannot be read: role "me" is unknown; use viewer, collaborator or admin; a group is written as group:NAME`},
		{"wrong level", "log_level: 3", "t.yaml:1: log_level is 3: write debug, info, warn or error"},
		{"wrong mode", "auth: {mode: oauth}", `t.yaml:1: auth.mode is "oauth": write token, jwt or none`},
		{"wrong sharing", "auth: {sessions: mine}", `t.yaml:1: auth.sessions is "mine": write shared or private`},
		{"wrong status", "auth: {foreign_session: 401}", `t.yaml:1: auth.foreign_session is 401: write 404 or 403`},
		{"wrong role of a claim", "auth:\n  jwt:\n    roles:\n      admin: root", `t.yaml:4: auth.jwt.roles.admin cannot be read: role "root" is unknown; use viewer, collaborator or admin`},
		{"wrong tool output", "sessions: {client_tool_output: take}", `t.yaml:1: sessions.client_tool_output is "take": write ignore or reject`},
		{"wrong compat", "stream: {compat: strict}", `t.yaml:1: stream.compat is "strict": write rfc`},
		{"D15 no event of that name", "stream:\n  domain_events: [toast, data-title]", `t.yaml:2: stream.domain_events holds "data-title": write all, or some of approval, audit-log, auth-required, child-session, commands, diff, edge, files-changed, flow-status, git-state, loop, messages-removed, mode, model-switched, models, modes, node, node-output, presence, pull-request, question, queue, review-result, session-status, state-patch, title, toast`},
		{"D15 all and more", "stream:\n  domain_events: [toast, all]", `t.yaml:2: stream.domain_events holds all beside other names: write all alone`},
		{"D15 twice", "stream:\n  domain_events: [toast, toast]", `t.yaml:2: stream.domain_events holds toast twice: write it once`},
		{"D15 no list", "stream:\n  domain_events: all", `t.yaml:2: stream.domain_events is "all": write a list, each entry on a line that begins with -`},
		{"wrong subagents", "stream: {subagents: show}", `t.yaml:1: stream.subagents is "show": write part, inline, preliminary or hidden`},
		{"wrong client", "stream:\n  client: \"4\"", `t.yaml:2: stream.client is "4": write 5, 6, 7 or a full version such as 7.0.173`},
		{"two tokens for a server", "agents:\n  far:\n    url: https://a.example\n    token_env: A\n    token_file: a", "t.yaml:2: agents.far has token_env and token_file: leave one of them out"},
		{"owner as a role of the gateway", "auth: {approver: owner}", `t.yaml:1: auth.approver cannot be read: role "owner" is a role in a session; of the gateway there are viewer, collaborator and admin; a group is written as group:NAME`},
		{"a group without a name", "agents:\n  x:\n    roles: [admin, 'group:']", `t.yaml:3: agents.x.roles[1] cannot be read: "group:" names no group: write group:NAME`},
		{"wrong role", "auth:\n  tokens:\n  - name: a\n    token_env: A\n    role: root", `t.yaml:5: auth.tokens[0].role cannot be read: role "root" is unknown; use viewer, collaborator or admin`},
		{"no role", "auth:\n  tokens:\n  - name: a\n    token_env: A", "t.yaml:3: auth.tokens[0] has no role: write viewer, collaborator or admin"},
		{"nameless token", "auth:\n  tokens:\n  - role: viewer", "t.yaml:3: auth.tokens[0] has no name: give it one, by which its holder is known"},
		{"two tokens in one", "auth:\n  tokens:\n  - name: a\n    role: viewer\n    token_env: A\n    token_file: a", "t.yaml:3: auth.tokens[0] needs exactly one of token_env and token_file"},
		{"wrong listen", "listen: \"8787\"", `t.yaml:1: listen is "8787": write host:port, such as 127.0.0.1:8787`},
		{"wrong port", "listen: 127.0.0.1:http", `t.yaml:1: listen is "127.0.0.1:http": write host:port, such as 127.0.0.1:8787`},
		{"wrong db", "\ndb: localhost", `t.yaml:2: db is no URL of a database: write postgres://user@host:5432/database`},
		{"wrong agent name", "agents:\n  my agent: {adapter: demo}", "t.yaml:2: agents.my agent has a name that cannot be used: use letters, digits, - and _, at most 64"},
		{"wrong verdict", "agents:\n  x:\n    policy:\n      rules:\n        - then: maybe", `t.yaml:5: agents.x.policy.rules[0].then is "maybe": write allow, deny or ask`},
		{"no verdict", "agents:\n  x:\n    policy:\n      rules:\n        - tool: Bash", "t.yaml:5: agents.x.policy.rules[0] has no verdict: write then: allow, deny or ask"},
		{"wrong command", "agents:\n  x:\n    policy:\n      rules:\n        - commands: ['ls; id']\n          then: ask", `t.yaml:3: agents.x.policy cannot be used: permission rule 1 has the command "ls; id": write one simple command such as git log *`},
		{"wrong kind", "agents:\n  x:\n    policy:\n      rules:\n        - kinds: [run]\n          then: ask", `t.yaml:5: agents.x.policy.rules[0].kinds[0] is "run": write read, edit, delete, move, search, execute, think, fetch, switch_mode or other`},
		{"wrong tool kind", "agents:\n  x:\n    tool_kinds:\n      mcp__db: sql", `t.yaml:4: agents.x.tool_kinds.mcp__db is "sql": write read, edit, delete, move, search, execute, think, fetch, switch_mode or other`},
		{"no limit", "limits: {streams: 0}", `t.yaml:1: limits.streams cannot be read: "0" is not a limit: write a whole number greater than 0, or none`},
		{"negative limit", "limits: {streams: -1}", `t.yaml:1: limits.streams cannot be read: "-1" is not a limit: write a whole number greater than 0, or none`},
		{"huge limit", "limits: {prompts: 99999999999}", `t.yaml:1: limits.prompts cannot be read: "99999999999" is not a limit: write a whole number greater than 0, or none`},
		{"size without a unit", "limits: {turn_bytes: 256}", `t.yaml:1: limits.turn_bytes cannot be read: "256" is not a size: write a whole number greater than 0 with KB, MB or GB, such as 256MB, or none`},
		{"huge size", "limits: {turn_bytes: 9999999999999GB}", `t.yaml:1: limits.turn_bytes cannot be read: "9999999999999GB" is not a size: write a whole number greater than 0 with KB, MB or GB, such as 256MB, or none`},
		{"number for env", "agents:\n  x:\n    env:\n      PORT: 80", "t.yaml:4: agents.x.env.PORT is 80: write text, in quotation marks"},
		{"exporter without an address", "exporters:\n  x: {content: none}", "t.yaml:2: exporters.x has no url: write the address of a receiver of OTLP by HTTP, such as https://cloud.langfuse.com/api/public/otel"},
		{"exporter with a name that is none", "exporters:\n  a b: {url: x}", "t.yaml:2: exporters.a b has a name that cannot be used: use letters, digits, - and _, at most 64"},
		{"exporter with a key", "exporters:\n  x:\n    url: https://x.example\n    headers:\n      X-Api-Key: secret", "t.yaml:5: exporters.x.headers.X-Api-Key holds a key: write env:VARIABLE, and put the key into that environment variable"},
		{"unknown class", "exporters: {x: {url: u, content: prompts}}", `t.yaml:1: exporters.x.content is "prompts": write all, none, prompt, output, reasoning, tool-input, tool-output, title, error, person or path`},
		{"class beside none", "exporters: {x: {url: u, content: [none, prompt]}}", `t.yaml:1: exporters.x.content cannot be used: content "none" is no class: use all, none, or some of prompt, output, reasoning, tool-input, tool-output, title, error, person, path with commas between them`},
		{"alias", "data: &d x\ncwd: *d", "t.yaml:1: data uses an anchor, an alias or a tag: write the value itself"},
		{"not a mapping", "- a", "t.yaml:1: the file is a list: write keys and values, each key on a line of its own"},
		{"two documents", "listen: :1\n---\nlisten: :2", "t.yaml:3: a second document begins here: write it into a file of its own"},
		{"not YAML", "listen: [", "t.yaml:1: the YAML cannot be read: sequence end token ']' not found"},
		{"key twice", "data: a\ndata: b", `t.yaml:2: the YAML cannot be read: mapping key "data" already defined at [1:1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read([]byte(c.yaml), "t.yaml")
			var fault *Fault
			if !errors.As(err, &fault) || fault.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	const text = `
listen: 0.0.0.0:80
data: /var/lib/tributary
db: postgres://10.0.0.1/tributary
fsync: off
backup: {dir: /backup, every: 1h}
cluster: {listen: ":8788", address: "gateway-1:8788"}
default_agent: coder
cwd: src
log_level: warn
auth:
  mode: token
  tokens:
    - {name: ci, token_env: CI_TOKEN, role: collaborator}
    - {name: eve, token_file: eve.token, role: viewer}
  allow_hosts: [chat.example.org]
  allow_origins: [loopback]
sessions:
  on_disconnect: detach
  grace: 1s
  grace_limit: 2s
  busy: reject
  approval: hold
  hold_limit: 11m
  answer_limit: 12h
  idle_limit: 3m
  stop_patience: 4s
  drain: 30m
  agent_idle: 5m
  evict_after: 11m
  max_agents: 6
  max_queue: 7
  replay: 8s
limits:
  requests: 9
  burst: 10
  streams: none
  clients: 12
  prompts: 13
  connections: "14"
  turn_bytes: 15 KB
  turn_records: none
stream:
  event_lines: false
  keepalive: 9s
  write_timeout: 10s
  compat: rfc
  subagents: inline
  domain_events: [git-state, title]
  client: "7"
agents:
  demo:
  fast: {adapter: demo, options: {pace: 0s}}
  coder:
    adapter: claude
    command: ./bin/claude
    args: [--verbose, ""]
    env: {A: "1", B: ""}
    model: opus
    cwd: /src
    policy:
      rules:
        - {kinds: [read, search], inside: true, then: allow}
        - {tool: "Bash*", then: deny, reason: No shell.}
    tool_kinds: {mcp__db: fetch}
`
	got, err := Read([]byte(text), "/etc/tributary/t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := Config{
		Listen: "0.0.0.0:80", Data: "/var/lib/tributary", DB: "postgres://10.0.0.1/tributary", Fsync: FsyncOff, Backup: &Backup{Dir: "/backup", Every: time.Hour, Keep: 7}, Cluster: &Cluster{Listen: ":8788", Address: "gateway-1:8788"},
		DefaultAgent: "coder", Cwd: "/etc/tributary/src", LogLevel: "warn",
		Auth: Auth{
			Mode: access.ModeToken,
			Tokens: []Token{
				{Name: "ci", TokenEnv: "CI_TOKEN", Role: access.Collaborator},
				{Name: "eve", TokenFile: "/etc/tributary/eve.token", Role: access.Viewer},
			},
			AllowHosts: []string{"chat.example.org"}, AllowOrigins: []string{"loopback"},
		},
		Sessions: Sessions{
			OnDisconnect: session.Detach, Grace: time.Second, GraceLimit: 2 * time.Second, Busy: session.Reject,
			Approval: session.Hold, HoldLimit: 11 * time.Minute, AnswerLimit: 12 * time.Hour,
			IdleLimit: 3 * time.Minute, StopPatience: 4 * time.Second, Drain: 30 * time.Minute, AgentIdle: 5 * time.Minute, EvictAfter: 11 * time.Minute,
			MaxAgents: 6, MaxQueue: 7, Replay: 8 * time.Second,
		},
		Limits: Limits{
			Requests: 9, Burst: 10, Streams: None, Clients: 12, Prompts: 13, Connections: 14, TurnBytes: 15 << 10, TurnRecords: None,
		},
		Stream: Stream{
			EventLines: &no, Keepalive: 9 * time.Second, WriteTimeout: 10 * time.Second,
			Compat: CompatRFC, Subagents: SubagentsInline, DomainEvents: []string{"git-state", "title"}, Client: "7",
		},
		Agents: map[string]Agent{
			"demo": {},
			"fast": {Adapter: "demo", Options: json.RawMessage(`{"pace":"0s"}`)},
			"coder": {
				Adapter: "claude", Command: "/etc/tributary/bin/claude", Args: []string{"--verbose", ""},
				Env: map[string]string{"A": "1", "B": ""}, Model: "opus", Cwd: "/src",
				Policy: &permission.Policy{Rules: []permission.Rule{
					{Kinds: []trace.ToolKind{trace.ToolRead, trace.ToolSearch}, Inside: true, Then: permission.Allow},
					{Tool: "Bash*", Then: permission.Deny, Reason: "No shell."},
				}},
				ToolKinds: map[string]trace.ToolKind{"mcp__db": trace.ToolFetch},
			},
		},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); d != "" {
		t.Error(d)
	}
	if err := got.Fault("agents.coder.model_name", "is of no use"); err.Error() != "/etc/tributary/t.yaml:54: agents.coder.model_name is of no use" {
		t.Error(err)
	}
}

// TestEveryTypeIsKnown: a new field of a type that decode does not know would
// take any text.
func TestEveryTypeIsKnown(t *testing.T) {
	t.Parallel()
	for typ, text := range map[reflect.Type]string{
		reflect.TypeFor[session.OnDisconnect](): "session.OnDisconnect", reflect.TypeFor[session.Busy](): "session.Busy", reflect.TypeFor[session.Approval](): "session.Approval",
		reflect.TypeFor[access.Mode](): "access.Mode", reflect.TypeFor[permission.Verdict](): "permission.Verdict",
		reflect.TypeFor[trace.ToolKind](): "trace.ToolKind", reflect.TypeFor[LogLevel](): "LogLevel",
		reflect.TypeFor[Compat](): "Compat", reflect.TypeFor[Subagents](): "Subagents",
	} {
		if len(words(typ)) == 0 {
			t.Errorf("%s has no words", text)
		}
	}
	for _, k := range words(reflect.TypeFor[trace.ToolKind]()) {
		p := permission.Policy{Rules: []permission.Rule{{Kinds: []trace.ToolKind{trace.ToolKind(k)}, Then: permission.Ask}}}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, v := range words(reflect.TypeFor[permission.Verdict]()) {
		if err := (permission.Policy{Rules: []permission.Rule{{Then: permission.Verdict(v)}}}).Validate(); err != nil {
			t.Error(err)
		}
	}
	var named func(reflect.Type)
	named = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			named(typ.Elem())
		case reflect.Struct:
			for f := range typ.Fields() {
				if f.IsExported() {
					named(f.Type)
				}
			}
		case reflect.String:
			if typ != reflect.TypeFor[string]() && len(words(typ)) == 0 {
				t.Errorf("%s takes any text", typ)
			}
		}
	}
	named(reflect.TypeFor[Config]())
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if c, err := Load(""); err != nil || c.Listen != "" {
		t.Errorf("without a file: %+v, %v", c, err)
	}
	for name, want := range map[string]string{
		"no.yaml": "no.yaml: there is no such file: name one that exists, or leave --config out",
		dir:       dir + ": this is a directory: name a file",
	} {
		if _, err := Load(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(DefaultFile, []byte("listen: 127.0.0.1:0\ndata: here"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", DefaultFile, filepath.Join(dir, DefaultFile)} {
		if c, err := Load(name); err != nil || c.Listen != "127.0.0.1:0" {
			t.Errorf("%q: %+v, %v", name, c, err)
		}
	}
	if err := os.WriteFile("big.yaml", []byte(strings.Repeat("# x\n", maxFile/4+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load("big.yaml"); err == nil || !strings.Contains(err.Error(), "larger than 1 MB") {
		t.Errorf("a large file: %v", err)
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		if _, err := Read([]byte(empty), "t.yaml"); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"listen: :1", "agents: {a: {policy: {rules: [{then: ask}]}}}", "a: &a [*a]", "? x\n: y", "{", "<<: {listen: x}", "- -\n", "x: |\n  y\n", "listen: !!binary x", "1: 2", "null: x", "sessions: {grace: 1ns}", "limits: {streams: none, turn_bytes: 1 GB}", "limits: {burst: 0x10}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := Read(data, "t.yaml")
		var fault *Fault
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("not a fault: %v", err)
		}
	})
}

// Browsers compare origins by their letters, so the policy of the frame has the browsers' form.
func TestTheOriginsOfTheWidgetAreWrittenAsBrowsersWriteThem(t *testing.T) {
	t.Parallel()
	c, err := Read([]byte("widget: {allow_origins: ['https://App.Example.com:443', 'http://localhost:5173', 'http://[::1]:80', 'https://a.example:8443']}"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://app.example.com", "http://localhost:5173", "http://[::1]", "https://a.example:8443"}
	if d := cmp.Diff(want, c.Widget.AllowOrigins); d != "" {
		t.Error(d)
	}
}
