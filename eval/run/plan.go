package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/eval"
)

// Cell is a run of a case with an agent.
type Cell struct {
	// Key stands for all that decides what is run and how it is judged.
	Key    string
	Case   *eval.Case
	Agent  string
	Repeat int // from 1
}

// Choice says which cells of a suite are run. An empty list is all.
type Choice struct {
	Agents, Cases []string
	Tag           string
	// Repeats takes the place of what the cases say, if it is not 0.
	Repeats int
}

// maxKeyLength is how many hexadecimal digits a key has.
const maxKeyLength = 20

// Plan are the cells of a suite's cases: all first runs, then all second ones. Agents are what
// decides what each agent of the suite does, as text. The error is a sentence for the author.
func Plan(ctx context.Context, cases []*eval.Case, agents map[string]string, want Choice) (cells []Cell, err error) {
	names := slices.Sorted(maps.Keys(agents))
	if err := known("agent", want.Agents, names); err != nil {
		return nil, err
	}
	var all []string
	for _, c := range cases {
		all = append(all, c.Name)
	}
	if err := known("case", want.Cases, all); err != nil {
		return nil, err
	}
	most := 0
	keys := map[string]string{}
	for _, c := range cases {
		if !chosen(want.Cases, c.Name) || want.Tag != "" && !slices.Contains(c.Tags, want.Tag) {
			continue
		}
		n := repeats(c, want)
		if c.Pass != nil && c.Pass.K > n {
			return nil, fmt.Errorf("%s: pass_k is %d, and the case runs %d times: write repeats: %d", c.File, c.Pass.K, n, c.Pass.K)
		}
		most = max(most, n)
		if keys[c.Name], err = fingerprint(ctx, c); err != nil {
			return nil, err
		}
	}
	for repeat := 1; repeat <= most; repeat++ {
		for _, c := range cases {
			if keys[c.Name] == "" || repeat > repeats(c, want) {
				continue
			}
			for _, name := range names {
				if chosen(want.Agents, name) && chosen(c.Agents, name) {
					cells = append(cells, Cell{digest(keys[c.Name], name, agents[name], repeat)[:maxKeyLength], c, name, repeat})
				}
			}
			if len(cells) > eval.MaxCells {
				return nil, fmt.Errorf("the suite has more than %d runs: lower repeats, or choose cases with --case", eval.MaxCells)
			}
		}
	}
	if len(cells) == 0 {
		return nil, errors.New("there is nothing to run: no case has such a tag and such an agent")
	}
	return cells, nil
}

func repeats(c *eval.Case, want Choice) int { return max(cmp.Or(want.Repeats, c.Repeats), 1) }

// known refuses names that are not there.
func known(what string, asked, there []string) error {
	for _, name := range asked {
		if !slices.Contains(there, name) {
			return fmt.Errorf("the suite has no %s %q: write one of %s", what, name, strings.Join(there, ", "))
		}
	}
	return nil
}

func chosen(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// digest is that of values, in hexadecimal digits.
func digest(values ...any) string {
	data, _ := json.Marshal(values) // texts and numbers
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// fingerprint stands for a case: its file, what the suite says for it, and its workspace. What a
// case asks of its rate is about no single run, and does not count.
func fingerprint(ctx context.Context, c *eval.Case) (string, error) {
	if c.Prompt == "" && len(c.Turns) == 0 {
		return "", fmt.Errorf("%s: the case has no prompt: write prompt or turns", c.File)
	}
	data, err := os.ReadFile(c.File)
	if err != nil {
		return "", fmt.Errorf("the case cannot be read: %w", err)
	}
	source, err := Source(c)
	if source == "" || err != nil {
		return digest(string(data), c.Limits, c.Unknown, c.Judge), err
	}
	tree, err := treeDigest(ctx, source)
	if err != nil {
		return "", fmt.Errorf("%s: workspace.source cannot be read: %w", c.File, err)
	}
	return digest(string(data), c.Limits, c.Unknown, c.Judge, tree), nil
}

// Source is the directory that is copied for each run of a case, without symlinks; empty if the
// case begins with an empty one.
func Source(c *eval.Case) (string, error) {
	if c.Workspace == nil || c.Workspace.Source == "" {
		return "", nil
	}
	dir := c.Workspace.Source
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(c.File), dir)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	info, statErr := os.Stat(dir)
	if err != nil || statErr != nil || !info.IsDir() {
		return "", fmt.Errorf("%s: workspace.source is %q, and there is no such directory: write its path relative to the case's file", c.File, c.Workspace.Source)
	}
	return dir, nil
}

// treeDigest stands for the files of a directory, with their permissions and symlinks.
func treeDigest(ctx context.Context, dir string) (string, error) {
	all, err := entriesOf(ctx, dir, true)
	return digest(all), err
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err //nolint:wrapcheck // it has the path
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err //nolint:wrapcheck // it has the path
}

// Program stands for the program of an agent, for the text of the agent that [Plan] takes. A file of
// the suite's own, in or below the directory of the suite's file, is its path there and its content.
// Another program is what it is called: the results have its version.
func Program(suite, program string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(suite))
	if err != nil {
		return "", fmt.Errorf("find the current directory: %w", err)
	}
	rel, err := filepath.Rel(dir, program)
	if info, statErr := os.Stat(program); err != nil || !filepath.IsLocal(rel) || statErr != nil || !info.Mode().IsRegular() {
		return program, nil //nolint:nilerr // it is another program
	}
	sum, err := fileDigest(program)
	return filepath.ToSlash(rel) + " " + sum, err
}
