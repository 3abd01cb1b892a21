// Command agent-module is the program tributary with one more agent.
package main

import "github.com/tributary-dev/tributary"

func main() { tributary.Main(shoutAdapter()) }
