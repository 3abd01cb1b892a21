package config

import (
	"encoding"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// keysOf lists the keys of a section that take a value, with [0] for an entry of a list and
// NAME for a name in a map.
func keysOf(typ reflect.Type, path string) (keys []string) {
	switch {
	case typ.Kind() == reflect.Pointer:
		return keysOf(typ.Elem(), path)
	case reflect.PointerTo(typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct && !reflect.PointerTo(typ.Elem()).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return keysOf(typ.Elem(), path+"[0]")
	case typ.Kind() == reflect.Map && typ.Elem().Kind() == reflect.Struct:
		return keysOf(typ.Elem(), path+".NAME")
	case typ.Kind() == reflect.Struct:
		for f := range typ.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" {
				keys = append(keys, keysOf(f.Type, strings.TrimPrefix(path+"."+name, "."))...)
			}
		}
		return keys
	}
	return []string{path}
}

// inBlocks writes a value at a path as YAML.
func inBlocks(path, value string) string {
	var b strings.Builder
	indent := ""
	for key := range strings.SplitSeq(path, ".") {
		key, entry := strings.CutSuffix(key, "[0]")
		b.WriteString("\n" + indent + key + ":")
		indent += "  "
		if entry {
			b.WriteString("\n" + indent + "-")
			indent += "  "
		}
	}
	return strings.TrimPrefix(b.String()+" "+value+"\n", "\n")
}

// The page has a row for each key, whose example the gateway reads.
func TestThePageShowsEachKeyWithAnExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	section, quoted := "", regexp.MustCompile("^`([^`]+)`$")
	shown := map[string]bool{}
	in := false
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if title := strings.TrimLeft(line, "#"); title != line {
			section = strings.Trim(title, " `")
			section = strings.Replace(section, "agents", "agents.NAME", 1)
			section = strings.Replace(section, "exporters", "exporters.NAME", 1)
			section = regexp.MustCompile(`^policy`).ReplaceAllString(section, "agents.NAME.policy")
			if section == "Top level" {
				section = ""
			}
		}
		cells := strings.Split(strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00"), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			in = false
		case len(cells) == 4 && cells[0] == "key" && cells[2] == "example":
			in = true
		case in && quoted.MatchString(cells[0]):
			key := strings.TrimPrefix(section+"."+strings.Trim(cells[0], "`"), ".")
			example := strings.ReplaceAll(strings.Trim(cells[2], "`"), "\x00", "|")
			shown[key] = true
			text := inBlocks(key, example)
			c := Config{file: "the page"}
			if err := c.decode([]byte(text)); err != nil {
				t.Errorf("the example of %s cannot be read: %v\n%s", key, err, text)
			}
		}
	}
	for _, key := range keysOf(reflect.TypeFor[Config](), "") {
		if !shown[key] && !strings.HasPrefix(key, "agents.NAME.policy.script[0].") { // these are rules, too
			t.Errorf("docs/reference/configuration.md has no row for %s", key)
		}
		delete(shown, key)
	}
	for _, group := range []string{"auth.tokens", "agents.NAME.policy", "agents.NAME.policy.rules", "agents.NAME.policy.script"} { // with an example of the whole
		delete(shown, group)
	}
	for key := range shown {
		t.Errorf("docs/reference/configuration.md has a row for %s, which is no key", key)
	}
}
