// Package web holds the one page of the gateway and serves it. The page is a stock AI SDK
// client: it lists the sessions and chats with them over the routes that any other client
// uses.
//
// The built page is in dist, and under version control, so that `go install` and `go build`
// compile it in without Node.js. `make web` builds the page when its sources have changed, and
// compress.go compresses its files.
package web
