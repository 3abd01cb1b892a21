// Package replay plays a recording of an agent's protocol through the agent's
// decoder, with nobody there: what `tributary convert` and the golden tests run.
//
// A recording is one of three things, told apart by content:
//
//   - lines of JSON as the agent writes them;
//   - server-sent events as the agent writes them;
//   - lines of {"t":ms,"dir":"in"|"out"|"err"|…,"msg":…}, which hold both directions.
//
// The other directions of a line are "sse" (an event stream), "s2c" and "c2s" (a server and its
// client), "r2d" and "d2r" (a runner and its session agent), and "http-req", "http-res" and "http"
// (whole lines). Lines of any other direction are skipped, and lines that were lost on their way.
//
// Turns come one after another, unless the decoder says that one runs beside another. Turns never
// wait, because answers come from the recording. A turn that is open at the end of the recording is
// finished like a stopped turn. The same input and options give the same records, byte for
// byte: ids are counted, and the recording has the only clock.
package replay
