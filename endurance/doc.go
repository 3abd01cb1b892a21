// Command endurance runs the gateway for long and treats it badly: it kills it
// under load, cuts its streams at random, and has it run a hundred thousand
// turns. It keeps what each client saw, compares it with what is on record
// afterwards, and prints one table of counts. The exit status is 1 when
// anything was lost, doubled, failed or leaked.
//
// What it starts it ends, also on Ctrl-C: each gateway belongs to the context
// of the run.
package main
