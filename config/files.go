package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/session/agentset"
)

// A field that names a file has the tag file, which says what the file is: secret, program, or
// path for a file or a directory that is neither. A key whose name ends in _file needs the tag.
const (
	tagFile = "file"
	// fileSecret is a file with a secret: no agent may read it.
	fileSecret = "secret"
	// fileProgram is a program. Without a slash it is looked for in PATH.
	fileProgram = "program"
)

// eachText calls do for each field below v that is a text, or an item of a list of files, and is set; at is the field's place, such
// as auth.tokens[0].token_file, and kind its tag file. Values of maps are changed in the map.
func eachText(v reflect.Value, at string, do func(at, kind string, text reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachText(v.Elem(), at, do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), fmt.Sprintf("%s[%d]", at, i), do)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			was, item := v.MapIndex(key), reflect.New(v.Type().Elem()).Elem()
			item.Set(was)
			eachText(item, at+"."+key.String(), do)
			if !reflect.DeepEqual(was.Interface(), item.Interface()) { // several goroutines may read a configuration
				v.SetMapIndex(key, item)
			}
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch at := strings.TrimPrefix(at+"."+key, "."); {
			case !f.IsExported():
			case field.Kind() == reflect.Slice && f.Tag.Get(tagFile) != "":
				for i := range field.Len() {
					do(fmt.Sprintf("%s[%d]", at, i), f.Tag.Get(tagFile), field.Index(i))
				}
			case field.Kind() != reflect.String:
				eachText(field, at, do)
			case field.String() != "":
				do(at, f.Tag.Get(tagFile), field)
			}
		}
	default:
	}
}

// anchorFiles makes paths independent of where the program is started, and where an agent's process is.
func (c *Config) anchorFiles() error {
	dir, err := filepath.Abs(filepath.Dir(c.file))
	if err != nil {
		return fmt.Errorf("find the current directory: %w", err)
	}
	eachText(reflect.ValueOf(c).Elem(), "", func(_, kind string, path reflect.Value) {
		if p := path.String(); kind != "" && !filepath.IsAbs(p) && (kind != fileProgram || strings.ContainsRune(p, filepath.Separator)) {
			path.SetString(filepath.Join(dir, p))
		}
	})
	return nil
}

// File is the file of the configuration. If none was read, it is the one that a start would
// read if it were there.
func (c Config) File() string {
	if c.file == "" {
		return DefaultFile
	}
	return c.file
}

// ClosedFiles are the files that no agent may read or write: the configuration, also when it
// does not exist yet, and the SecretFiles. Paths are absolute, and sorted.
func (c Config) ClosedFiles() []string {
	return absolute(append(c.SecretFiles(), c.File()))
}

// SecretFiles are the files with a secret that the configuration names, and the directory of
// back-ups. Paths are absolute, and sorted.
func (c Config) SecretFiles() []string {
	all := agentset.DatabaseFiles(c.DB)
	for _, path := range c.secrets() {
		all = append(all, path)
	}
	if c.Backup != nil {
		all = append(all, c.Backup.Dir)
	}
	return absolute(all)
}

// secrets are the files with a secret that have a key of their own, by the places of the keys.
func (c Config) secrets() map[string]string {
	all := map[string]string{}
	eachText(reflect.ValueOf(&c).Elem(), "", func(at, kind string, path reflect.Value) {
		if kind == fileSecret {
			all[at] = path.String()
		}
	})
	c.eachOption("_file", func(at, path string) { all[at] = path })
	return all
}

// SecretVariables are the environment variables in which the configuration says that a secret stands, and
// those from which the driver of the database takes one.
func (c Config) SecretVariables() []string {
	var all []string
	eachText(reflect.ValueOf(&c).Elem(), "", func(at, _ string, name reflect.Value) {
		if strings.HasSuffix(at, "_env") {
			all = append(all, name.String())
		}
	})
	for _, e := range c.Exporters {
		for _, value := range e.Headers {
			if name, is := SecretEnv(value); is {
				all = append(all, name)
			}
		}
	}
	all = append(all, agentset.DatabaseVariables(c.DB)...)
	c.eachOption("_env", func(_, name string) { all = append(all, name) })
	return all
}

// eachOption calls do for each text among the options of agents whose key ends so, at any depth.
func (c Config) eachOption(suffix string, do func(at, text string)) {
	for name, a := range c.Agents {
		agentset.EachOption(a.Options, suffix, func(at, text string) { do("agents."+name+".options"+at, text) })
	}
}

// CheckSecrets returns a Fault about the first key whose file with a secret cannot be read.
func (c Config) CheckSecrets() error {
	all := c.secrets()
	for _, at := range slices.Sorted(maps.Keys(all)) {
		why := unreadable(all[at])
		if why != nil {
			return c.Fault(at, "names %s, which cannot be read: %v: correct the path, or let the gateway's user read the file", all[at], why)
		}
	}
	return nil
}

// unreadable says why a file cannot be read, or has nothing in it. A pipe is left alone, because it can
// be read only once.
func unreadable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		return errors.New("it is a directory")
	case info.Mode().IsRegular() && info.Size() == 0:
		return errors.New("it is empty")
	case info.Mode().IsRegular():
		var f *os.File
		if f, err = os.Open(path); err == nil {
			err = f.Close()
		}
	}
	if at, is := errors.AsType[*os.PathError](err); is {
		return at.Err
	}
	return err
}

func absolute(all []string) []string {
	for i, path := range all {
		if abs, err := filepath.Abs(path); err == nil {
			all[i] = abs
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
