package tributary_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestWorkflowsPinTheirActions: a workflow runs the code of other people by the hash of a commit, and may only read unless it says more.
func TestWorkflowsPinTheirActions(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(os.DirFS("."), ".github/workflows/*.yml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^(\./\S+|\S+@[0-9a-f]{40} # v\d+(\.\d+)*)$`)
	for _, name := range names {
		workflow := text(t, name)
		if !strings.Contains(workflow, "\npermissions:\n  contents: read\n") {
			t.Errorf("%s has more rights than to read", name)
		}
		for _, m := range uses.FindAllStringSubmatch(workflow, -1) {
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s uses %s: name the commit, and its version in a comment", name, m[1])
			}
		}
	}
}

// TestDependabotKnowsEveryManifest: each folder with dependencies is updated, and each folder that is named has some.
func TestDependabotKnowsEveryManifest(t *testing.T) {
	t.Parallel()
	var config struct {
		Updates []struct {
			Ecosystem   string   `yaml:"package-ecosystem"`
			Directory   string   `yaml:"directory"`
			Directories []string `yaml:"directories"`
		} `yaml:"updates"`
	}
	if err := yaml.Unmarshal([]byte(text(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	named := map[string][]string{}
	for _, u := range config.Updates {
		for _, d := range append(u.Directories, u.Directory) {
			if d != "" {
				named[u.Ecosystem] = append(named[u.Ecosystem], d)
			}
		}
	}
	manifest := map[string]string{"go.mod": "gomod", "package-lock.json": "npm", "requirements.txt": "pip", "Dockerfile": "docker", "compose.yaml": "docker-compose"}
	has := map[string][]string{"github-actions": {"/"}}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "venv", "bin", ".git"}, d.Name()):
			return fs.SkipDir
		case manifest[d.Name()] != "":
			kind := manifest[d.Name()]
			has[kind] = append(has[kind], path.Join("/", path.Dir(name)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, folders := range has {
		for _, f := range folders {
			if !slices.Contains(named[kind], f) {
				t.Errorf(".github/dependabot.yml does not name %s for %s", f, kind)
			}
		}
	}
	for kind, folders := range named {
		for _, f := range folders {
			if !slices.Contains(has[kind], f) {
				t.Errorf(".github/dependabot.yml names %s for %s, and there is nothing to update", f, kind)
			}
		}
	}
}
