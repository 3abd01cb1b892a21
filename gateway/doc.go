// Package gateway is Tributary over HTTP: the routes that a stock useChat calls,
// and the few more that a session needs.
//
// The package translates and refuses; it decides nothing about turns. Package
// session gives a request its meaning, uistream writes the stream, and access has
// the roles.
//
// On the chat and stream routes an error is text/plain and one sentence, because
// the stock client shows the body of a failed response to the user as it is.
// Everywhere else it is {"error": sentence, "code": word}.
package gateway
