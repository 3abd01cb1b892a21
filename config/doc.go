// Package config reads tributary.yaml.
//
// Reading is strict: an unknown key, a value of the wrong type, a duration or a
// word that means nothing is a [Fault], one sentence with the file, the line and
// what could stand there instead. Nothing is guessed and nothing is expanded:
// secrets come by token_env and token_file, and relative paths are relative to
// the file's own directory. What the file does not say stays zero, and means the
// default of whoever uses it.
package config
