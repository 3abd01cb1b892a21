package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/config"
)

// tokenFile is the file of the minted token in the data directory.
const tokenFile = "token"

type tokenCommand struct {
	Config string `placeholder:"FILE" help:"The configuration (default ./tributary.yaml, if it is there)."`
	Data   string `placeholder:"DIR" help:"The data directory, as for serve."`
}

// Run prints the minted token.
func (t *tokenCommand) Run(p *program) error {
	c, err := config.Load(t.Config)
	if err != nil {
		return err
	}
	dir, err := dataDir(cmp.Or(t.Data, c.Data))
	if err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(dir, tokenFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no token in %s: start the gateway once with `tributary serve`, or name its data directory with --data", dir)
	case err != nil:
		return fmt.Errorf("the token in %s cannot be read: %w", dir, reason(err))
	}
	_, err = fmt.Fprintln(p.stdout, strings.TrimSpace(string(token)))
	return err
}
