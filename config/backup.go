package config

import "time"

// Backup has the running gateway write copies of its SQLite databases.
type Backup struct {
	// Dir is a directory for the copies alone.
	Dir string `yaml:"dir" file:"path"`
	// Every is the time between two back-ups: a minute at least, 24 h by default.
	Every time.Duration `yaml:"every"`
	// Keep is how many back-ups stay: 1 to 1000, 7 by default.
	Keep int `yaml:"keep"`
}

// The bounds and the defaults of Backup.
const (
	minBackupEvery     = time.Minute
	maxBackupKeep      = 1000
	defaultBackupEvery = 24 * time.Hour
	defaultBackupKeep  = 7
)

// checkBackup checks the section, and puts its defaults in.
func (c *Config) checkBackup() error {
	b := c.Backup
	if b == nil {
		return nil
	}
	if b.Every == 0 {
		b.Every = defaultBackupEvery
	}
	if b.Keep == 0 {
		b.Keep = defaultBackupKeep
	}
	switch {
	case b.Dir == "":
		return c.Fault("backup", "has no dir: name a directory for the back-ups, best on another disk")
	case b.Every < minBackupEvery:
		return c.Fault("backup.every", "is %s: write 1m at least", b.Every)
	case b.Keep > maxBackupKeep:
		return c.Fault("backup.keep", "is %d: write %d at most", b.Keep, maxBackupKeep)
	}
	return nil
}
