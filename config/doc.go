// Package config reads tributary.yaml.
//
// Reading is strict. An unknown key, a value of the wrong type, or an unknown word is a
// [Fault]: a sentence with the file, the line and the possible values. The package guesses
// nothing and expands nothing. Secrets come by token_env and token_file.
// Relative paths are relative to the file's own directory. A key that is not in the file
// stays zero, which means the default of the package that uses it.
package config
