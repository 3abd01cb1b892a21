package sqllog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// nameFile has the name by which this gateway knows its sessions after a restart, and
// whether the data directory has a database. While the gateway runs it names the machine's
// start, too.
const nameFile = "gateway"

// readName reads the name of this gateway, and whether the newest commits may be lost. A database that
// the gateway has used, and that is missing now or lacks commits, is an error.
func (s *Store) readName() (gateway string, lost bool, err error) {
	path, database := filepath.Join(s.opts.Dir, nameFile), filepath.Join(s.opts.Dir, databaseFile)
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return "", false, fmt.Errorf("the file %s cannot be read: correct its permissions: %w", path, reason(err))
	}
	words := append(strings.Fields(string(text)), "", "", "")
	if s.opts.URL != "" || words[1] != databaseFile || s.opts.shared {
		return words[0], false, nil
	}
	if file, err := os.Stat(database); os.IsNotExist(err) || err == nil && file.Size() == 0 {
		return "", false, fmt.Errorf("the database %s is missing or empty, and this gateway has kept sessions in it: restore a back-up, or choose an empty --data directory to begin without them", database)
	}
	killed := words[2] != ""
	if killed && words[2] == machineStart() && lacksCommits(database) {
		return "", false, damagedSentence(database, errors.New("its journal "+database+"-wal lacks commits"))
	}
	if journal, err := os.Stat(database + "-wal"); killed && (err != nil || journal.Size() == 0) {
		s.opts.Logger.Warn("the gateway was killed, and the journal of its database is missing: if you have not restored a back-up, the newest records are lost", "journal", database+"-wal")
		lost = true
	}
	return words[0], lost, nil
}

// machineStart names the start of the machine where the system has a name for it. After
// another start SQLite's files need not fit each other.
func machineStart() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(id))
}

// writeName writes the name, when the database is there.
func (s *Store) writeName(open bool) error {
	line := s.gateway
	if _, err := os.Stat(filepath.Join(s.opts.Dir, databaseFile)); err == nil {
		if line += " " + databaseFile; open {
			line += " " + machineStart()
		}
	}
	path := filepath.Join(s.opts.Dir, nameFile)
	if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == line {
		return nil
	}
	err := os.WriteFile(path+".new", []byte(line+"\n"), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("the data directory %s cannot be written: correct its permissions, or free some room: %w", s.opts.Dir, reason(err))
	}
	return nil
}
