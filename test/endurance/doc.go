// Command endurance runs the gateway through faults: kills under load, streams that are cut at
// random, a hundred thousand turns. The command keeps each client's observations, compares them with
// the records afterwards, and prints one table of counts. The exit status is 1 if anything was lost,
// doubled, failed or leaked.
//
// Each gateway belongs to the context of the run and ends with it, also on Ctrl-C.
package main
