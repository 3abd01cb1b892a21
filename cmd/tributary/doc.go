// Command tributary makes agents speak the Vercel AI SDK's UI message stream.
//
//	tributary serve     the gateway
//	tributary run       one turn in the terminal
//	tributary convert   a recording of an agent's own protocol into a stream or a trace
//	tributary agents    the configured agents, and whether they can start here
//	tributary version   which version this is
//
// What the program says to other programs goes to standard output: the ready
// line of serve, the text or the trace of run and convert, the table of agents.
// Everything for people goes to standard error. The exit status is 0, 1 when
// something went wrong, 2 when the command line or the configuration did, and
// 130 for a run that was interrupted.
package main
