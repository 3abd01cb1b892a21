package sqllog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// nameFile has the name by which this gateway knows its sessions after a restart, and
// whether the data directory has a database, which was open when the file was written.
const (
	nameFile = "gateway"
	openMark = "open"
)

// name is what the file says.
type name struct {
	gateway string
	lost    bool // the database, or its newest commits
}

// readName reads the name of this gateway. It finds out whether the database or its journal
// has gone since.
func (s *Store) readName() (n name, err error) {
	path, database := filepath.Join(s.opts.Dir, nameFile), filepath.Join(s.opts.Dir, databaseFile)
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return n, fmt.Errorf("the file %s cannot be read: correct its permissions: %w", path, reason(err))
	}
	words := append(strings.Fields(string(text)), "", "", "")
	n.gateway = words[0]
	if s.opts.URL != "" || words[1] != databaseFile || s.opts.shared {
		return n, nil
	}
	if file, err := os.Stat(database); os.IsNotExist(err) || err == nil && file.Size() == 0 {
		if os.Rename(database+savedSuffix, database) == nil {
			return n, nil // a salvage ended between two renames
		}
		return name{n.gateway, true}, errors.Join(s.noteMissing(database), beginEmpty(s.opts, time.Now(), "the database "+database+" is missing"))
	}
	n.lost, err = mendJournal(database, s.opts.Logger)
	if journal, missing := os.Stat(database + "-wal"); words[2] == openMark && (os.IsNotExist(missing) || missing == nil && journal.Size() == 0) {
		n.lost = true
	}
	if n.lost && err == nil {
		s.opts.Logger.Error("the newest sessions and records are lost: restore a back-up, or go on without them", "reason", "the gateway was killed, and "+database+"-wal is missing or cut")
		err = s.noteMissing(database + "-wal")
	}
	return n, err
}

// noteMissing says that a file is missing, in a file that is counted as a damaged one.
func (s *Store) noteMissing(path string) error {
	now := time.Now()
	sentence := "At " + now.UTC().Format(time.RFC3339) + " the file " + path + " was missing or cut. Delete this note when you do not need it any more.\n"
	if err := os.WriteFile(path+asideSuffix+now.UTC().Format(asideTime), []byte(sentence), 0o600); err != nil {
		return fmt.Errorf("the data directory %s cannot be written: correct its permissions, or free some room: %w", s.opts.Dir, reason(err))
	}
	return nil
}

// sign writes the name, when the database is there.
func (s *Store) sign(open bool) error {
	line := s.gateway
	if _, err := os.Stat(filepath.Join(s.opts.Dir, databaseFile)); err == nil {
		if line += " " + databaseFile; open {
			line += " " + openMark
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
