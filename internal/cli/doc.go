// Package cli is the program tributary: its commands and flags, the map of adapters, and
// the order in which the parts of the gateway start and end. [Main] takes further
// adapters, so that an agent can live in another module.
package cli
