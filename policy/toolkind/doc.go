// Package toolkind says what a tool does. Every agent names its tools in its own
// way. A [Table] maps those names to the closed set of trace.ToolKind. It also
// finds a title and the touched files in a call's input.
//
// There is one table for each kind of agent. An agent of another module makes its own
// with [New] and names it in agent.Adapter. A Table is a value: a user's
// overrides make a new Table, and no Table changes after it was made.
package toolkind
