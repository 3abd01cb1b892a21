package box

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Places finds closed files and directories that are no longer at their paths. A process may have given a directory above them
// another name, or may have replaced a link to them. The zero Places is good, and safe for concurrent use.
type Places struct {
	mu  sync.Mutex
	all map[string][]place // by path
}

// place is a directory, or a file in it. The descriptor leads to the directory wherever it is.
type place struct {
	dir  *os.File
	info os.FileInfo
	file string // "" is the directory itself
}

// mostPlaces bounds where one path has led. A path leads elsewhere when somebody changes a link.
const mostPlaces = 16

// Now returns the paths, and where everything is now that one of them led to at this call or at an earlier one.
func (s *Places) Now(paths []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string][]place{}
	}
	now := slices.Clone(paths)
	for _, path := range paths {
		s.look(path)
		for _, p := range s.all[path] {
			if at := p.now(); at != "" && !slices.Contains(now, at) {
				now = append(now, at)
			}
		}
	}
	return now
}

// look notes where a path leads.
func (s *Places) look(path string) {
	s.all[path] = slices.DeleteFunc(s.all[path], func(p place) bool { return p.now() == "" })
	real, err := filepath.EvalSymlinks(path)
	if err != nil || len(s.all[path]) >= mostPlaces {
		return
	}
	p := place{}
	if info, err := os.Stat(real); err == nil && !info.IsDir() {
		real, p.file = filepath.Dir(real), filepath.Base(real)
	}
	if p.dir, err = os.OpenFile(real, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
		return
	}
	p.info, err = p.dir.Stat()
	if err != nil || slices.ContainsFunc(s.all[path], func(o place) bool { return o.file == p.file && os.SameFile(o.info, p.info) }) {
		_ = p.dir.Close()
		return
	}
	s.all[path] = append(s.all[path], p)
}

// now is where a place is, or "" if it is nowhere.
func (p place) now() string {
	at, err := os.Readlink(fmt.Sprint("/proc/self/fd/", p.dir.Fd()))
	if err != nil || !filepath.IsAbs(at) || strings.HasSuffix(at, " (deleted)") {
		return ""
	}
	return filepath.Join(at, p.file)
}
