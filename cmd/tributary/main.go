// Command tributary makes agents speak the Vercel AI SDK's UI message stream.
//
//	tributary serve     the gateway
//	tributary run       one turn in the terminal
//	tributary convert   a recording of an agent's own protocol into a stream or a trace
//	tributary agents    the agents, and whether they can start here
//	tributary token     the token that opens the gateway
//	tributary version   which version this is
//
// Output for other programs goes to standard output: the ready line of serve, the
// text or the trace of run and convert, the table of agents, the token. Messages for
// people go to standard error. The exit status is 0, 1 after a failure, 2 after a
// mistake in the command line or the configuration, and 130 for a run that was
// interrupted.
package main

import "github.com/tributary-dev/tributary"

func main() { tributary.Main() }
