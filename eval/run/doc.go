// Package run runs suites of evals in this process. A cell is one run of a case with an agent. It has
// a workspace of its own, an agent of its own, and a hub and a log in memory. Its records are
// judged by the graders of the case, and the result is a line of results.jsonl: see [eval.Cell].
package run
