// Package agentops makes a session on an Agent Ops server (later Valet) an agent.
//
// [Decoder] is the pure half. It reads the frames that a session agent sends to
// browsers, and those that were sent from here. Its rules:
//
//   - A browser is told of no end: it is worked out from the finish part of a message,
//     from runnerBusy and promptDequeued, from errors and the state of the session, and
//     never from an agent that says it is idle.
//   - A snapshot of a message adds the text that was not streamed. Nothing is ever
//     taken back.
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
// A turn whose end is told has Builder.Ended closed. A turn that is finishing waits for
// a last word (a result that is late, the text of an error): settle(t) ends the turn
// when the word does not come. After a lost connection the Decoder gets the messages of
// the session before the new socket's init frame, and adds what was missed.
//
// The states of prompts, runs, the connection and the runner are tables, with their
// events and all times: states.go.
package agentops
