// Package agentops makes a session on an Agent Ops server (later Valet) an agent.
//
// [Decoder] is the pure half. It reads the frames that a session agent sends to browsers, and
// those that were sent from here. Its rules:
//
//   - No frame is the end of a turn for browsers. The end follows from the finish part of a
//     message, from runnerBusy and promptDequeued, from errors and from the state of the session.
//     An agent that says it is idle has not ended.
//   - The Builder compares a snapshot of a message with what was streamed.
//   - One prompt may have several messages (another model takes over): they are one turn here,
//     with a step for each.
//   - Prompts of others, and other channels, have turns of their own.
//   - Frames that are no part of the conversation (the repository, the queue, presence) are
//     domain events.
//
// A live session hands the Decoder every frame that it reads (agent.Out), and every frame that it
// sends or whose effect it has by HTTP (agent.In), in order and under one lock. After a lost
// connection the Decoder gets the messages of the session before the new connection's greeting. A
// turn that waits for a last word, such as a late result or the text of an error, ends with
// [Decoder.AtEnd] when the word does not come.
//
// The states of turns, of the connection and of the runner are tables with their events, and
// stand together with all times in states.go.
//
// The session uses neither agentkit.Session nor package agent/remote: both run one turn at a
// time, and here one connection carries many turns of several people at once.
package agentops
