// Package agentops makes a session on an Agent Ops server (later Valet) an agent.
//
// [Decoder] is the pure half. It reads what a session agent sends to browsers and
// what a runner sends to it, also both at once, and what was sent from here. What it
// holds to:
//
//   - A browser is told of no end: it is worked out from the finish part of a message,
//     from runnerBusy and promptDequeued, from errors and the state of the session, and
//     never from an agent that says it is idle.
//   - Of each turn the text comes from one dialect, the first that brings any, and so
//     do its tools. What a snapshot of the message has beyond what was streamed is
//     added; nothing is ever taken back.
//   - One prompt may have several turns upstream (another model takes over): they are
//     one turn here, a step each, which has the upstream's id.
//   - Prompts of others, and other channels, are turns of their own.
//   - What is no part of the conversation (the repository, the queue, who is there) is
//     a domain event, which a stream shows only to whoever asks for it.
//
// # What the other half needs of it
//
// One Decoder reads one session, from one socket. The runtime hands it every frame
// that it reads (agent.Out) and every frame that it sends or has the effect of, also
// by REST (agent.In), in order and under one lock. A prompt is handed in when
// Turns.Current is the turn that it opens. After each call it looks at
//
//	take()      what is asked, what of it was settled elsewhere, types never seen
//	phase(b)    what became of the prompt whose turn b is: sent, queued, running,
//	            finishing, over, withdrawn
//	waking()    whether the session is on its way up, which is silent and slow
//
// A turn whose end is told has Builder.Ended closed. One that is finishing waits for
// a last word (a result that is late, the text of an error): settle(t) calls it over
// when that does not come. After a lost connection the new socket's init frame may
// be handed in with the messages of the session filled in: what was missed is healed
// from them.
package agentops
