package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/access"
)

// This file lists the routes.

// chatRoute is the AI SDK's own, whose body names the session.
const chatRoute = "POST /api/chat"

// routes names the routes that need a principal. A route with an id needs the role in that
// session, any other the role in the gateway.
func (g *gateway) routes(route func(pattern string, h handler)) {
	in := func(pattern string, need access.Role, h handler) { route(pattern, g.member(need, h, nil)) }
	all := func(pattern string, need access.Role, h handler) { route(pattern, g.allow(need, h)) }

	route(chatRoute, g.anyRole(sized(g.streaming(g.served(g.chat)))))
	route("GET /api/chat", g.connect)
	route("GET /api/chat/{id}/stream", g.resumeRoute())
	route("POST /api/chat/{id}/stop", g.member(access.Collaborator, g.stop, stopNothing))
	route("POST /api/sessions/{id}/stop", g.member(access.Collaborator, g.stop, stopNothing))
	in("POST /api/chat/{id}/steer", access.Collaborator, g.user(g.steer))
	if !g.NoSessionChat {
		route("POST /api/sessions/{id}/chat", g.rfcMember(access.Collaborator, sized(g.streaming(g.recorded(g.served(g.chat)))), nil))
		route("GET /api/sessions/{id}/chat/stream", g.rfcMember(access.Viewer, g.streaming(g.served(g.resume)), noStream))
		route("GET /api/sessions/{id}/chat/{chat}/stream", g.rfcMember(access.Viewer, g.streaming(g.resumeSession), g.noRun))
	}

	all("GET /api/sessions", access.Viewer, g.list)
	all("GET /api/events", access.Viewer, g.streaming(g.listEvents))
	all("GET /api/requests", access.Viewer, g.requests)
	all("POST /api/sessions", access.Collaborator, g.create)
	in("GET /api/sessions/{id}", access.Viewer, g.get)
	in("PATCH /api/sessions/{id}", access.Collaborator, g.change)
	in("DELETE /api/sessions/{id}", access.Owner, g.remove)
	in("PUT /api/sessions/{id}/members/{principal}", access.Owner, g.invite)
	in("DELETE /api/sessions/{id}/members/{principal}", access.Owner, g.expel)
	in("GET /api/sessions/{id}/messages", access.Viewer, g.messages)
	in("GET /api/sessions/{id}/controls", access.Viewer, g.controls)
	in("GET /api/sessions/{id}/files", access.Collaborator, g.user(g.files))
	in("GET /api/sessions/{id}/queue", access.Viewer, g.queue)
	in("DELETE /api/sessions/{id}/queue", access.Collaborator, g.withdrawAll)
	in("POST /api/sessions/{id}/queue/continue", access.Collaborator, g.user(g.continueQueue))
	in("PATCH /api/sessions/{id}/queue/{turn}", access.Collaborator, g.user(g.editQueued))
	in("DELETE /api/sessions/{id}/queue/{turn}", access.Collaborator, g.withdraw)
	in("POST /api/sessions/{id}/queue/{turn}/promote", access.Collaborator, g.user(g.promote))
	route("GET /api/sessions/{id}/requests", g.decider(g.sessionRequests))
	route("POST /api/sessions/{id}/permissions/{request}", g.decider(g.permit))
	in("GET /api/sessions/{id}/grants", access.Viewer, g.grants)
	in("DELETE /api/sessions/{id}/grants/{grant}", access.Viewer, g.revoke)
	in("POST /api/sessions/{id}/questions/{request}", access.Collaborator, g.user(g.answer))
	in("GET /api/sessions/{id}/trace", access.Viewer, g.streaming(g.watched(g.trace)))
	in("GET /api/sessions/{id}/export", access.Viewer, g.streaming(g.watched(g.export)))
	in("GET /api/sessions/{id}/scores", access.Viewer, g.scores)
	in("POST /api/sessions/{id}/scores", access.Collaborator, g.score)
	in("GET /api/sessions/{id}/events", access.Viewer, g.streaming(g.watched(g.events)))
	in("GET /api/sessions/{id}/channels", access.Viewer, g.channels)
	in("GET /api/sessions/{id}/tools", access.Viewer, g.tools)
	g.agentOps(route)

	all("GET /api/agents", access.Viewer, g.agents)
	all("GET /api/agents/{agent}/conversations", access.Collaborator, g.conversations)
	all("GET /api/exporters", access.Admin, g.exporters)
	all("GET /api/workspaces", access.Admin, g.workspaces)
	all("DELETE /api/workspaces/{session}", access.Admin, g.removeWorkspace)
	all("GET /metrics", access.Viewer, g.metrics)
}

// streams are the routes whose answers have no end of their own: a WebSocket carries them for
// browsers, which have few connections.
func streams() []string {
	return []string{"GET /api/events", "GET /api/sessions/{id}/events", "GET /api/chat/{id}/stream"}
}

// openRoutes names the routes that need no principal.
func (g *gateway) openRoutes(route func(pattern string, h handler)) {
	route("GET /healthz", g.healthy)
	route("GET /readyz", g.ready)
}

// noStream answers that there is nothing to resume, as in a session that does not exist yet.
func noStream(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}
