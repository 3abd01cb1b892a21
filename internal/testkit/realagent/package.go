package realagent

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"path/filepath"
)

// locks holds for each package the files that its registry's client reads: a
// package.json and a package-lock.json for npm, a requirements.txt for PyPI.
//
//go:embed locks
var locks embed.FS

// Registry is where packages come from.
type Registry int

// The registries.
const (
	NPM Registry = iota
	PyPI
)

// Package is an agent as its registry knows it, at one exact version, with everything
// that the package needs at exact versions too.
type Package struct {
	Name    string // of the package
	Version string // exact
	Command string // the program that the package installs
	Lock    string // folder below locks
	From    Registry
}

// String returns NAME@VERSION.
func (p Package) String() string { return p.Name + "@" + p.Version }

// file is a file that the registry's client reads.
type file struct {
	name string
	text []byte
}

// manifest returns the files of the lock.
func (p Package) manifest() ([]file, error) {
	names := []string{"package.json", "package-lock.json"}
	if p.From == PyPI {
		names = []string{"requirements.txt"}
	}
	var files []file
	for _, name := range names {
		text, err := locks.ReadFile(path.Join("locks", p.Lock, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, text})
	}
	return files, nil
}

// digest names one content of the lock: another lock is another installation.
func (p Package) digest() string {
	files, err := p.manifest()
	if err != nil {
		return "none"
	}
	sum := sha256.New()
	for _, f := range files {
		sum.Write(f.text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// bin returns the folder of the programs, below the folder of the installation.
func (p Package) bin() string {
	if p.From == PyPI {
		return filepath.FromSlash("venv/bin")
	}
	return filepath.FromSlash("node_modules/.bin")
}
