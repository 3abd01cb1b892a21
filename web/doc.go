// Package web holds the one page of the gateway, as `make web` built it, and
// serves it. The page is a stock AI SDK client: it lists the sessions and chats
// with them over the same routes that any other client uses.
//
// A tree in which the page was never built still compiles: then the handler
// serves a short page that says so.
package web
