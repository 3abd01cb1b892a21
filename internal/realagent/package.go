package realagent

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
)

// locks holds a package.json and a package-lock.json for each package.
//
//go:embed locks
var locks embed.FS

// Package is an agent as npm knows it, at one exact version, with everything
// that the package needs at exact versions too.
type Package struct {
	Name    string // of the npm package
	Version string // exact
	Command string // what the package puts into node_modules/.bin
	Lock    string // folder below locks
}

// String returns NAME@VERSION.
func (p Package) String() string { return p.Name + "@" + p.Version }

// manifest returns package.json and package-lock.json.
func (p Package) manifest() (wants, lock []byte, err error) {
	if wants, err = locks.ReadFile(path.Join("locks", p.Lock, "package.json")); err != nil {
		return nil, nil, err
	}
	lock, err = locks.ReadFile(path.Join("locks", p.Lock, "package-lock.json"))
	return wants, lock, err
}

// digest names one content of the lock: another lock is another installation.
func (p Package) digest() string {
	wants, lock, err := p.manifest()
	if err != nil {
		return "none"
	}
	sum := sha256.Sum256(append(wants, lock...))
	return hex.EncodeToString(sum[:4])
}

// Pinned returns the packages of all agents that tests run.
func Pinned() []Package {
	var out []Package
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if k.Package.Name != "" && !seen[k.Package.Lock] {
			seen[k.Package.Lock] = true
			out = append(out, k.Package)
		}
	}
	return out
}
