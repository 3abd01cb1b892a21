// Package demo is an agent without a model: it plays scripts. It needs no key,
// touches no file, and says the same every time, so it shows what a client makes
// of each thing that an agent can do.
//
// The words of a prompt choose the script: words are compared whole and without
// regard to case, and the first row of this table that has a word in the prompt
// wins. Without any the demo answers with a short text that points to help.
//
//	think      reasoning, then text
//	tool       text, a call whose input streams, its output, text in a next step
//	fail       a call that fails, and text that recovers
//	parallel   two calls in one step whose results come in the other order
//	approve    a shell command that needs permission: allow, always, deny
//	both       two shell commands that need permission at the same time
//	beside     as approve, beside a call that ends after the answer
//	meanwhile  as approve, beside a call that ends before the answer
//	twice      a second permission after the first
//	withdraw   a permission that the agent takes back after 100 paces
//	ask        a question with three choices
//	freely     a question that takes any text
//	several    three questions at once: a choice, several choices, any text
//	mixed      a question and two permissions, all at the same time
//	usage      text and a usage record with a cost
//	plan       a plan that is worked off
//	file       sources and a file
//	data       data parts: one that is updated, one that is transient
//	subagent   a call whose sub-agent reasons, speaks and reads a file
//	error      some text, then the turn fails
//	slow       100 words, five paces apart: ten seconds at the default pace
//	quiet      some text, then nothing for 500 paces: ten seconds at the default pace
//	long       2,000 words
//	clock      the time in nanoseconds, as often as a number in the prompt says (100)
//	big        a call with 200 KB of output
//	unicode    text cut inside its characters
//	remember   the earlier prompts of the session
//	all        text, reasoning, tool, fail, parallel and usage in one turn
//	hello      text
//	help       this table
//
// The session's memory is its resume token, so it outlives a restart.
package demo
