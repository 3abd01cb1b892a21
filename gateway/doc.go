// Package gateway is Tributary over HTTP: the routes that a stock useChat calls,
// and the few more that a session needs.
//
// It translates and refuses; it decides nothing about turns. What a request
// means is the session package's affair, what goes over the wire uistream's, who
// may do it access's.
//
// On the chat and stream routes an error is text/plain and one sentence, because
// the stock client shows the body of a failed response to the user as it is.
// Everywhere else it is {"error": sentence, "code": word}.
package gateway
