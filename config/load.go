package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/internal/yamlfile"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/uistream"
)

// DefaultFile is read when no file is named, if it is there.
const DefaultFile = "tributary.yaml"

// maxFile bounds what is read.
const maxFile = 1 << 20

// Load reads a file. An empty name means DefaultFile, which may be missing; a
// file that was named may not.
func Load(name string) (Config, error) {
	file := name
	if file == "" {
		file = DefaultFile
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return Config{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return Config{}, &Fault{File: file, Sentence: "there is no such file: name one that exists, or leave --config out"}
	case err == nil && info.IsDir():
		return Config{}, &Fault{File: file, Sentence: "this is a directory: name a file"}
	case err == nil && info.Size() > maxFile:
		return Config{}, &Fault{File: file, Sentence: "the file is larger than 1 MB: is it the right one?"}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Config{}, &Fault{File: file, Sentence: fmt.Sprintf("the file cannot be read: %v", errors.Unwrap(err))}
	}
	return Read(data, file)
}

// Read reads the content of a file. The name is for errors, and its directory is
// what relative paths are relative to.
func Read(data []byte, file string) (Config, error) {
	c := Config{file: file}
	if err := c.decode(data); err != nil {
		return Config{}, err
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	return c, c.anchorFiles()
}

func (c *Config) decode(data []byte) error {
	document, err := yamlfile.Parse(c.file, data)
	if err == nil {
		c.lines, err = document.Decode(c, rules())
	}
	return err //nolint:wrapcheck // a Fault
}

func rules() yamlfile.Rules { return yamlfile.Rules{Words: words, MayBeEmpty: mayBeEmpty} }

// mayBeEmpty is true of what is handed to an agent's process as it is.
func mayBeEmpty(path string) bool {
	return strings.HasPrefix(path, "agents.") && (strings.Contains(path, ".env.") || strings.Contains(path, ".args["))
}

// check looks at what a type does not say.
func (c *Config) check() error {
	for _, at := range []struct{ key, address string }{{"listen", c.Listen}, {"metrics_listen", c.MetricsListen}} {
		if at.address == "" {
			continue
		}
		if err := CheckListen(at.address); err != nil {
			return c.Fault(at.key, "%v", err)
		}
	}
	if c.App != "" {
		if err := CheckApp(c.App); err != nil {
			return c.Fault("app", "%v", err)
		}
	}
	if c.DB != "" {
		if err := CheckDB(c.DB); err != nil {
			return c.Fault("db", "%v", err)
		}
	}
	if _, err := uistream.ParseProfile(c.Stream.Client); err != nil {
		return c.Fault("stream.client", "is %q: write 5, 6, 7 or a full version such as 7.0.173", c.Stream.Client)
	}
	if _, err := uistream.ParseDomainEvents(c.Stream.DomainEvents); err != nil {
		return c.Fault("stream.domain_events", "%v", err)
	}
	if err := c.checkFront(); err != nil {
		return err
	}
	if err := c.checkWidget(); err != nil {
		return err
	}
	if err := cmp.Or(c.checkCluster(), c.checkBackup(), c.checkExporters()); err != nil {
		return err
	}
	for i, t := range c.Auth.Tokens {
		at := fmt.Sprintf("auth.tokens[%d]", i)
		switch {
		case t.Name == "":
			return c.Fault(at, "has no name: give it one, by which its holder is known")
		case t.Role == 0:
			return c.Fault(at, "has no role: write viewer, collaborator or admin")
		case (t.TokenEnv == "") == (t.TokenFile == ""):
			return c.Fault(at, "needs exactly one of token_env and token_file")
		}
	}
	if s := c.Auth.ForeignSession; s != 0 && s != http.StatusNotFound && s != http.StatusForbidden {
		return c.Fault("auth.foreign_session", "is %d: write 404 or 403", s)
	}
	return c.checkAgents()
}

func (c *Config) checkAgents() error {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		if !validName(name) {
			return c.Fault("agents."+name, "has a name that cannot be used: use letters, digits, - and _, at most 64")
		}
		if a.TokenEnv != "" && a.TokenFile != "" {
			return c.Fault("agents."+name, "has token_env and token_file: leave one of them out")
		}
		switch b := a.Box; {
		case b.Form == box.Off && b.Required:
			return c.Fault("agents."+name+".box", "is off and required: write guard or strict, or leave required out")
		case b.Form == box.Off && b.Read != nil || b.Form == box.Off && b.Write != nil:
			return c.Fault("agents."+name+".box", "is off, and has read or write, which mean nothing then: remove them")
		}
		if a.Policy == nil {
			continue
		}
		for i, r := range a.Policy.Rules {
			if r.Then == "" {
				return c.Fault(fmt.Sprintf("agents.%s.policy.rules[%d]", name, i), "has no verdict: write then: allow, deny or ask")
			}
		}
		if err := a.Policy.Validate(); err != nil {
			return c.Fault("agents."+name+".policy", "cannot be used: %v", err)
		}
	}
	return nil
}

// CheckListen says in a phrase what is wrong with an address to listen on.
func CheckListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("is %q: write host:port, such as 127.0.0.1:8787", address)
	}
	return nil
}

func validName(s string) bool {
	const longest = 64
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= longest
}
