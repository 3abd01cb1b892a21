package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// eachFile calls do for each field below v that names a file, or a list of files, and is set; at is the field's place, such
// as auth.tokens[0].token_file. Values of maps are changed in the map.
func eachFile(v reflect.Value, at string, do func(at, kind string, path reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachFile(v.Elem(), at, do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachFile(v.Index(i), fmt.Sprintf("%s[%d]", at, i), do)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			item := reflect.New(v.Type().Elem()).Elem()
			item.Set(v.MapIndex(key))
			eachFile(item, at+"."+key.String(), do)
			v.SetMapIndex(key, item)
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch kind, at := f.Tag.Get(tagFile), strings.TrimPrefix(at+"."+key, "."); {
			case !f.IsExported():
			case kind != "" && field.Kind() == reflect.Slice:
				for i := range field.Len() {
					do(fmt.Sprintf("%s[%d]", at, i), kind, field.Index(i))
				}
			case kind != "":
				if field.String() != "" {
					do(at, kind, field)
				}
			default:
				eachFile(field, at, do)
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
	eachFile(reflect.ValueOf(c).Elem(), "", func(_, kind string, path reflect.Value) {
		if p := path.String(); !filepath.IsAbs(p) && (kind != fileProgram || strings.ContainsRune(p, filepath.Separator)) {
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

// SecretFiles are the files with a secret that the configuration names. Paths are absolute,
// and sorted.
func (c Config) SecretFiles() []string {
	all := databaseFiles(c.DB)
	for _, path := range c.secrets() {
		all = append(all, path)
	}
	return absolute(all)
}

// secrets are the files with a secret that have a key of their own, by the places of the keys.
func (c Config) secrets() map[string]string {
	all := map[string]string{}
	eachFile(reflect.ValueOf(&c).Elem(), "", func(at, kind string, path reflect.Value) {
		if kind == fileSecret {
			all[at] = path.String()
		}
	})
	for name, a := range c.Agents {
		var options any
		if json.Unmarshal(a.Options, &options) == nil {
			addFiles(all, "agents."+name+".options", options)
		}
	}
	return all
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

// addFiles adds what the keys that end in _file name, at any depth.
func addFiles(all map[string]string, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if name, ok := item.(string); ok && name != "" && strings.HasSuffix(key, "_file") {
				all[at+"."+key] = name
			}
			addFiles(all, at+"."+key, item)
		}
	case []any:
		for i, item := range v {
			addFiles(all, fmt.Sprintf("%s[%d]", at, i), item)
		}
	}
}

// databaseFiles are the files from which the driver of PostgreSQL takes the password, and
// the key of the client's certificate.
func databaseFiles(db string) []string {
	at, err := url.Parse(db)
	if db == "" || err != nil {
		return nil
	}
	home, _ := os.UserHomeDir() // without one there is no such file
	var all []string
	for _, f := range []struct{ parameter, variable, home string }{
		{"passfile", "PGPASSFILE", ".pgpass"}, {"sslkey", "PGSSLKEY", ".postgresql/postgresql.key"}, {"servicefile", "PGSERVICEFILE", ".pg_service.conf"},
	} {
		for _, path := range []string{at.Query().Get(f.parameter), os.Getenv(f.variable), filepath.Join(home, f.home)} {
			if path != "" {
				all = append(all, path)
			}
		}
	}
	return all
}
