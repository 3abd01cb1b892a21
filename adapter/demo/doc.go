// Package demo is an agent without a model: it plays scripts. The demo needs no key,
// touches no file, and says the same every time. So a client can be tried with each
// thing that an agent can do.
//
// A word of the prompt names the script. The script help lists all scripts. The demo
// compares whole words without regard to case, and plays the first script of the list
// that the prompt names. Without a name the demo answers with a short text that points
// to help.
//
// The demo keeps no conversation of its own. It reads the session's earlier prompts from
// the gateway's history.
package demo
