package config

import (
	"encoding/json"
	"fmt"
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

// eachFile calls do for each field below v that names a file and is set. Values of maps are
// changed in the map.
func eachFile(v reflect.Value, do func(kind string, path reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachFile(v.Elem(), do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachFile(v.Index(i), do)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			item := reflect.New(v.Type().Elem()).Elem()
			item.Set(v.MapIndex(key))
			eachFile(item, do)
			v.SetMapIndex(key, item)
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			switch kind := f.Tag.Get(tagFile); {
			case !f.IsExported():
			case kind != "":
				if field.String() != "" {
					do(kind, field)
				}
			default:
				eachFile(field, do)
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
	eachFile(reflect.ValueOf(c).Elem(), func(kind string, path reflect.Value) {
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
	eachFile(reflect.ValueOf(&c).Elem(), func(kind string, path reflect.Value) {
		if kind == fileSecret {
			all = append(all, path.String())
		}
	})
	for _, a := range c.Agents {
		var options any
		if json.Unmarshal(a.Options, &options) == nil {
			all = appendFiles(all, options)
		}
	}
	return absolute(all)
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

// appendFiles appends what the keys that end in _file name, at any depth.
func appendFiles(all []string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if name, ok := item.(string); ok && name != "" && strings.HasSuffix(key, "_file") {
				all = append(all, name)
			}
			all = appendFiles(all, item)
		}
	case []any:
		for _, item := range v {
			all = appendFiles(all, item)
		}
	}
	return all
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
