// Command tributary makes agents speak the Vercel AI SDK's UI message stream.
//
//	tributary serve     run the gateway
//	tributary run       run one turn in the terminal
//	tributary convert   convert a recording into a stream or a trace
//	tributary agents    list the agents, and whether they can start
//	tributary token     print the token of the gateway
//	tributary version   print the version
//	tributary completion, tributary man   print a shell's completion script, the manual page
//
// The commands write their results to standard output and messages for people to standard
// error. The exit status is 0 after success, 1 after a failure, 2 after a mistake in the
// command line or the configuration, and 130 after an interrupted run.
package main

import "github.com/tributary-dev/tributary"

func main() { tributary.Main() }
