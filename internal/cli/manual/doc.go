// Package manual writes the manual page of a command line and its completion scripts for
// bash, zsh and fish. All of them come from the definitions of commands and flags that the
// program parses its arguments by.
package manual
