package box

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// User is a user of the system as whom programs run, instead of the gateway's own user. The programs
// get the user's groups, no capabilities, and no way to new privileges: sudo does not work there.
type User struct {
	Name   string `json:"name"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Groups []int  `json:"groups"` // all of them
	Home   string `json:"home"`
	Shell  string `json:"shell"`
}

// FindUser finds a user of the system. An error goes on after the name of the setting: "is root, …".
func FindUser(name string) (*User, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("is %s, and agents run as users of their own on Linux only: remove it", name)
	}
	found, err := user.Lookup(name)
	if _, unknown := errors.AsType[user.UnknownUserError](err); unknown {
		return nil, fmt.Errorf("is %q, and this system has no such user: make it with `useradd --system --create-home %s`, or correct the name", name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("is %q, and that user cannot be looked up: %w", name, err)
	}
	if found.Uid == "0" {
		return nil, fmt.Errorf("is %s, which may read every file of the gateway: name another user", name)
	}
	ids, err := found.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("is %q, and the groups of that user cannot be looked up: %w", name, err)
	}
	u := &User{Name: found.Username, Home: found.HomeDir, Shell: shellOf(found.Username)}
	u.UID, err = strconv.Atoi(found.Uid)
	gid, wrong := strconv.Atoi(found.Gid)
	u.GID, err = gid, errors.Join(err, wrong)
	for _, id := range ids {
		group, wrong := strconv.Atoi(id)
		u.Groups, err = append(u.Groups, group), errors.Join(err, wrong)
	}
	if err != nil {
		return nil, fmt.Errorf("is %q, whose numbers cannot be read: %w", name, err)
	}
	return u, nil
}

// shellOf is the shell of a user. Users of services have one that only says no; agents that run
// commands by $SHELL need one that runs them.
func shellOf(name string) string {
	text, _ := os.ReadFile("/etc/passwd") // users from elsewhere have /bin/sh
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) == 7 && fields[0] == name && fields[6] != "" && path.Base(fields[6]) != "nologin" && path.Base(fields[6]) != "false" {
			return fields[6]
		}
	}
	return "/bin/sh"
}

// Environ is the part of an environment that tells a program whose it is.
func (u *User) Environ() []string {
	return []string{"HOME=" + u.Home, "USER=" + u.Name, "LOGNAME=" + u.Name, "SHELL=" + u.Shell}
}
