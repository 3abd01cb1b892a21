// Package eval judges what an agent did in a session. A [Case] says in YAML what is asked of the
// agent, and has graders; [Case.Grade] applies the graders to the session's turns, as package
// export/reader makes them of a trace. So a session of any agent can be judged, also one that
// was recorded long ago.
//
// A grader passes, fails, or says that it cannot know: an agent that reports no tokens is neither
// under nor over a budget of tokens. Each finding names the records that show it.
package eval
