// Package agentkit is the skeleton of an agent's session. An adapter adds the
// protocol: a Decoder, and a few lines that start, prompt and stop the agent.
//
// [Session] does not depend on how the agent is reached. A Session does this work:
//
//   - Decode messages of both directions, one at a time.
//   - Give the Decoder its turns.
//   - Perform the Decoder's effects: wait for approvals and answers, and send them to the
//     agent.
//   - Run a prompt until the agent ends the turn, a person stops the turn, or the
//     connection is lost for good.
//   - Own all goroutines, and end them in Close.
//
// [Open] adds a process: start, restart after its death, and an end that is sure to
// come. An adapter of such an agent implements [Protocol] and describes the program in
// a [Spec].
//
// [NewInbound] is for agents that open the connection themselves. Sessions wait for their
// agent, and turns go on by its next connection. An adapter implements [InboundProtocol].
//
// Each of the two is a [Link], the transport of one prompt. An agent that is reached in
// another way has a Link of its own and calls [Session.Run]; package remote is for servers.
//
// [Local] needs no Session: an agent in this process has no protocol, and plays each turn
// with a function. Such an agent asks for permissions with [Approve].
package agentkit
