package access

import "testing"

func TestB04_BearerSubprotocol(t *testing.T) {
	g := newGuard(t, func(c *Config) {
		c.AllowOrigins = []string{"https://app.example"}
	})
	const upgrade = "Upgrade: websocket"
	runGuardCases(t, g, []guardCase{
		{"as valet", "GET /ws", []string{upgrade, "Sec-WebSocket-Protocol: valet, bearer." + viewToken}, "wall viewer"},
		{"as agent-ops, in two headers", "GET /ws", []string{upgrade, "Sec-WebSocket-Protocol: agent-ops", "Sec-WebSocket-Protocol: bearer." + workToken}, "ci collaborator"},
		{"from a page of another origin", "GET /ws", []string{upgrade, "Origin: https://app.example", "Sec-WebSocket-Protocol: valet, bearer." + viewToken}, "wall viewer"},
		{"from a foreign page", "GET /ws", []string{upgrade, "Origin: https://evil.example", "Sec-WebSocket-Protocol: valet, bearer." + viewToken}, "origin_not_allowed"},
		{"a wrong one", "GET /ws", []string{upgrade, "Sec-WebSocket-Protocol: valet, bearer.guess"}, "token_wrong"},
		{"an empty one", "GET /ws", []string{upgrade, "Sec-WebSocket-Protocol: valet, bearer."}, "token_wrong"},
		{"two of them", "GET /ws", []string{upgrade, "Sec-WebSocket-Protocol: bearer." + viewToken + ", bearer." + workToken}, "token_wrong"},
		{"none", "GET /ws", []string{upgrade, "Sec-WebSocket-Protocol: valet"}, "token_missing"},
		{"beside a header, which wins", "GET /ws", []string{upgrade, "Authorization: Bearer " + workToken, "Sec-WebSocket-Protocol: valet, bearer." + viewToken}, "ci collaborator"},
		{"beside a wrong header", "GET /ws", []string{upgrade, "Authorization: Bearer guess", "Sec-WebSocket-Protocol: valet, bearer." + viewToken}, "token_wrong"},
		{"of a request that is no WebSocket's", "GET /ws", []string{"Sec-WebSocket-Protocol: valet, bearer." + viewToken}, "token_missing"},
		{"of another method", "POST /ws", []string{upgrade, "Sec-WebSocket-Protocol: valet, bearer." + viewToken}, "token_missing"},
		{"a token in the URL of a WebSocket is no exchange", "GET /healthz?token=" + viewToken, []string{upgrade}, "nobody none"},
	})
}
