package session

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

// tempPrefix begins the names of the directories for temporary files of agents. It tells whose they are.
func (h *Hub) tempPrefix() string {
	of := sha256.Sum256([]byte(h.StateDir))
	return fmt.Sprintf("tributary-agent-%x-", of[:8])
}

// removeTemp removes the directories that a killed gateway has left behind. Its agents have ended.
func (h *Hub) removeTemp() {
	if h.StateDir == "" {
		return
	}
	all, _ := os.ReadDir(os.TempDir()) // what cannot be listed stays
	for _, e := range all {
		if strings.HasPrefix(e.Name(), h.tempPrefix()) {
			_ = spaces.RemoveAll(filepath.Join(os.TempDir(), e.Name())) // what stays, stays among temporary files
		}
	}
}
