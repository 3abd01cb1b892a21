package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

// storeFile is the file in the data directory that says where the gateway keeps its log, its tokens
// and its sign-ins: the URL of the database without passwords, or storeInFiles. A command that runs
// beside the gateway does not know the gateway's flags.
const (
	storeFile    = "store"
	storeInFiles = "files"
)

// noteStore writes which store the gateway of a data directory uses. An empty db is SQLite.
func noteStore(data, db string) error {
	path, line := filepath.Join(data, storeFile), storeInFiles
	if db != "" {
		line = withoutPasswords(db)
	}
	if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == line {
		return nil
	}
	err := os.WriteFile(path+".new", []byte(line+"\n"), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("the data directory %s cannot be written: correct its permissions, or free some room: %w", data, reason(err))
	}
	return nil
}

// storeOf returns the database that a command is to use: the one that the command names, else the
// one of the gateway that was last started with the data directory. A command that names another
// database than that gateway uses is refused: the gateway would not see what the command writes.
func storeOf(data, asked string) (string, error) {
	text, err := os.ReadFile(filepath.Join(data, storeFile))
	used := strings.TrimSpace(string(text))
	switch {
	case errors.Is(err, fs.ErrNotExist): // no gateway of this version was started here
		return asked, nil
	case err != nil:
		return "", fmt.Errorf("the file %s cannot be read: run the command as the user of the gateway: %w", filepath.Join(data, storeFile), reason(err))
	case used == storeInFiles && asked == "":
		return "", nil
	case used == storeInFiles:
		return "", usage("the gateway of the data directory %s keeps its tokens and sign-ins in that directory: leave --db and the key db out, or start the gateway with the database first", data)
	case asked == "":
		return used, nil
	case !sqllog.SameDatabase(used, asked):
		return "", usage("the gateway of the data directory %s keeps its tokens and sign-ins in %s: name that database, or start the gateway with the other one first", data, used)
	}
	return asked, nil
}

// withoutPasswords is the URL of a database without what is secret in it.
func withoutPasswords(db string) string {
	u, err := url.Parse(db)
	if err != nil { // the store refuses it
		return ""
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	query.Del("password")
	query.Del("sslpassword")
	u.RawQuery = query.Encode()
	return u.String()
}
