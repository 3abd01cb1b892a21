// Package agents runs every real agent through the gateway, with the scripted model
// in place of a provider. The tests compare the Traces that the agents give for the
// same script, and write docs/reference/matrix.md.
//
// The tests take the agents that every run needs. TRIBUTARY_TEST_AGENTS names
// others: "others" is all the rest, "all" is all, and a list has commas.
//
// The tests run in a network of their own that has only loopback, where the
// system lets them. So no agent can reach anybody else, and its attempts count.
package agents
