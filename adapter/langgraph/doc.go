// Package langgraph connects graphs of LangGraph.
//
// [Runtime] is a session with an assistant of a LangGraph server: each prompt is a run of
// the session's thread. [Backend] is a session with a backend of the user's own that
// publishes what a graph does: events of astream_events, or frames of graph.stream. One
// [Decoder] reads all of these, because the content is the same: messages, in three
// serialisations, and updates of the graph's state.
//
// Several models may speak at the same time, so all state is kept by the message
// ([Options] says who is shown, and how). A graph that interrupts itself makes its turn wait
// for a person.
package langgraph
