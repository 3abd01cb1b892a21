// Package replay plays a recording of an agent's protocol through the agent's
// decoder, with nobody there: what `tributary convert` and the golden tests run.
//
// A recording is one of three things, told apart by content:
//
//   - lines of JSON as the agent writes them;
//   - server-sent events as the agent writes them;
//   - lines of {"t":ms,"dir":"in"|"out"|"err"|…,"msg":…}, which hold both
//     directions; "sse" is what an event stream said, "s2c" and "c2s" what a
//     server and its client said, "r2d" and "d2r" a runner and who drives it;
//     "http-req", "http-res" and "http" are whole lines. Lines of other
//     directions are skipped, and those that were lost on their way.
//
// Turns come one after another, unless the decoder says that one runs beside
// another, and never wait: answers come from the recording, and a turn that is open
// at its end is finished like one that was stopped.
// The same input gives the same records, byte for byte: ids are counted, and the
// only clock is the one in the recording.
package replay
