package session

// InMemory tells how many sessions are in memory, and OpenDirs how many
// directories are open.
func (h *Hub) InMemory() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live)
}

// OpenDirs is described above.
func (h *Hub) OpenDirs() int {
	h.dirs.mu.Lock()
	defer h.dirs.mu.Unlock()
	return len(h.dirs.open)
}
