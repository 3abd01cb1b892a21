//go:build unix

// Command closed prepares an agent for a test that is not written in Go. The
// command installs the agent if need be, and writes the agent's configuration files
// below the home. Then it prints the agent's entry for the gateway's configuration
// as JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
)

func main() {
	var room realagent.Dirs
	flag.StringVar(&room.Home, "home", "", "the agent's home, an empty folder")
	flag.StringVar(&room.Tmp, "tmp", "", "a temporary folder with a short path")
	flag.StringVar(&room.Dir, "dir", "", "the workspace")
	flag.StringVar(&room.URL, "model", "", "address of the scripted model, without a slash at its end")
	flag.Parse()
	if err := prepare(flag.Arg(0), room); err != nil {
		fmt.Fprintln(os.Stderr, "closed:", err)
		os.Exit(1)
	}
}

func prepare(name string, room realagent.Dirs) error {
	k, ok := realagent.KindOf(name)
	if !ok {
		return fmt.Errorf("there is no agent %q", name)
	}
	store, err := realagent.DefaultStore()
	if err != nil {
		return err
	}
	var path string
	if k.Package.Name != "" {
		if path, err = store.Install(context.Background(), k.Package); err != nil {
			return err
		}
	}
	if err := k.WriteFiles(room); err != nil {
		return err
	}
	agent := map[string]any{"adapter": k.Name}
	if k.Options != nil {
		agent = k.Options(room)
		agent["adapter"] = k.Name
	}
	if path != "" {
		agent["command"], agent["env"] = path, k.Closed(room, path)
	}
	return json.NewEncoder(os.Stdout).Encode(agent)
}
