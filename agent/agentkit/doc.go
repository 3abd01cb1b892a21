// Package agentkit is the skeleton of an agent's session. An adapter adds the
// protocol: a Decoder, and a few lines that start, prompt and stop the agent.
//
// [Session] does not depend on how the agent is reached. A Session
//
//   - decodes messages of both directions, one at a time;
//   - gives the Decoder its turns;
//   - performs the Decoder's effects: it waits for approvals and answers, and sends
//     them to the agent;
//   - runs a prompt until the agent ends the turn, a person stops the turn, or the
//     connection is lost for good;
//   - owns all goroutines, and ends them in Close.
//
// [Open] adds a process: start, restart after its death, and an end that is sure to
// come. An adapter of such an agent implements [Protocol] and describes the program in
// a [Spec].
//
// [OpenRemote] adds a server instead, which is started or runs already: calls by HTTP, an
// event stream that is opened again when it breaks, and a look at what the stream has
// missed. An adapter of such an agent implements [RemoteProtocol] and describes the server
// in a [RemoteSpec].
//
// [NewInbound] is for agents that open the connection themselves. Sessions wait for their
// agent, and turns go on by its next connection. An adapter implements [InboundProtocol].
//
// Each of the three is a [Link], the transport of one prompt. An agent that is reached in
// another way has a Link of its own and calls [Session.Run].
package agentkit
