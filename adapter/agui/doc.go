// Package agui is the adapter of agents behind an AG-UI endpoint, the Agent-User
// Interaction protocol: of version 1.0, and of earlier versions as they are met.
//
// A run is a POST whose answer is a stream of events. The endpoint remembers nothing that
// an adapter can rely on, so each run gets the whole conversation: its messages, the state,
// the tools of the app. The adapter rebuilds them from the records of the gateway.
//
// A run that asks for something ends. Its turn goes on with another run once all that was
// asked is answered. A stream that broke off cannot be opened again.
package agui
