// Package yamlfile decodes YAML files that people write, strictly: a key that does not exist, a
// value of another kind and an empty value are errors. It walks the syntax tree itself, so every
// error names the line, and what could stand there.
package yamlfile
