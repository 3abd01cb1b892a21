package box

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// argument is the first argument of a program of ours that has to set up a box.
const argument = "tributary-box"

// setUpWithin bounds how long setting up a box may take. Only a file system that hangs takes longer than
// some milliseconds.
const setUpWithin = 30 * time.Second

// order is what the program in the box has to do. It travels as an argument, which ends when the
// program becomes the agent. No file is involved that an agent could change.
type order struct {
	Rule Rule `json:"rule"`
	// Path is the program to become; "" ends after the box was set up and checked.
	Path string `json:"path,omitempty"`
	// Report is the descriptor that takes why the box could not be set up.
	Report int `json:"report"`
	// Listen are the addresses to listen at in a network of the process's own. Nil is no such network.
	Listen []string `json:"listen,omitempty"`
	// Death is the signal that the kernel sends when the process Parent ends; 0 is none.
	Death  int `json:"death,omitempty"`
	Parent int `json:"parent"`
	// Dir is the directory that the process of another user works in, and Use one that the user has to be
	// able to read and write, or "".
	Dir string `json:"dir,omitempty"`
	Use string `json:"use,omitempty"`
	// Share has that user's new files be open to their group, because the gateway is another member of it.
	Share bool `json:"share,omitempty"`
}

// failure is a report of the program in the box.
type failure struct {
	// Step says what failed; "" is the start of the agent's program.
	Step  string        `json:"step"`
	Errno syscall.Errno `json:"errno"`
}

// enters says that the program calls Enter, so that it can be started to set up a box.
var enters atomic.Bool //nolint:gochecknoglobals // a fact about the program: a copy of a program that does not call Enter would run as a second one

// available are the outcomes of trying the forms once.
var available = map[Form]func() error{ //nolint:gochecknoglobals // a fact about the machine
	Guard:   sync.OnceValue(func() error { return try(Rule{Form: Guard}) }),
	Strict:  sync.OnceValue(func() error { return try(Rule{Form: Strict}) }),
	network: sync.OnceValue(func() error { return try(Rule{Form: Guard, Network: unserved{}}) }),
}

var errNotEntered = errors.New("the program does not call box.Enter first in its main function")

// Available reports why a form cannot be had here, or nil. The first call for each form really sets up
// a box, in some milliseconds.
func Available(f Form) error {
	if f == Off || f == "" {
		return nil
	}
	if !enters.Load() {
		return errNotEntered
	}
	return available[f]()
}

// try sets up a box over a file and a directory made for it.
func try(r Rule) (err error) {
	dir, err := os.MkdirTemp("", "tributary-box-")
	if err != nil {
		return fmt.Errorf("no directory can be made to try the box in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	closed, file := dir+"/closed", dir+"/file"
	if err := errors.Join(os.Mkdir(closed, 0o700), os.WriteFile(file, []byte("closed"), 0o600)); err != nil {
		return fmt.Errorf("no file can be made to try the box with: %w", err)
	}
	r.Closed, r.Write = []string{closed, file}, []string{dir}
	cmd := exec.Command("/proc/self/exe") //nolint:noctx // it ends within setUpWithin
	cmd.Dir, cmd.Env = "/", []string{}
	in, err := r.start(cmd, "", "")
	if err != nil {
		return err
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("a program that tries the box ended with %w", err)
	}
	return nil
}

// forbidden says that the system forbids a step, and what usually does.
func forbidden(step string, err error) error {
	return fmt.Errorf("the system does not let this user %s (%w): see the page about the box for containers and for settings of the kernel", step, err)
}

// start has a command start this program, which becomes the user, sets up the box, sees that it can use a
// directory, and becomes the program of a path.
func (r Rule) start(cmd *exec.Cmd, path, use string) (*Inside, error) {
	if !enters.Load() {
		return nil, errNotEntered
	}
	reports, report, err := pair()
	if err != nil {
		return nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	defer reports.Close()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := cmd.SysProcAttr
	r.Closed = slices.Concat(r.Closed, r.sockets())
	o := order{Rule: r, Path: path, Report: 3 + len(cmd.ExtraFiles), Death: int(attr.Pdeathsig), Parent: os.Getpid(), Use: use}
	if r.User != nil { // the gateway may not have the right to go to the directory, or the user to the gateway's
		o.Share, o.Dir, cmd.Dir = os.Geteuid() != 0, cmp.Or(cmd.Dir, "/"), "/"
		attr.AmbientCaps = []uintptr{unix.CAP_SETUID, unix.CAP_SETGID}
	}
	if r.Network != nil {
		o.Listen = append([]string{"127.0.0.1:0"}, r.Network.Listen()...)
	}
	if r.closes() {
		if err := r.namespaces(attr); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		_ = report.Close()
		return nil, fmt.Errorf("write the box as JSON: %w", err)
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, report)
	// The link leads to the program that runs, also when a newer one lies in its place.
	cmd.Path, cmd.Args = "/proc/self/exe", append([]string{"tributary", argument, string(text)}, cmd.Args...)
	err = cmd.Start()
	_ = report.Close()
	if err != nil {
		return nil, forbidden("start a program in namespaces of its own, or as another user", err)
	}
	files, err := await(path, reports)
	if err == nil && r.Network == nil {
		return nil, nil //nolint:nilnil // the gateway's own network
	}
	var in *Inside
	if err == nil {
		in, err = r.inside(files)
	} else {
		for _, f := range files {
			_ = f.Close()
		}
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return in, err
}

// namespaces has the program be in a user namespace and in a mount namespace of its own, and in a network
// of its own if the rule has one.
func (r Rule) namespaces(attr *syscall.SysProcAttr) (err error) {
	attr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	attr.UidMappings, attr.GidMappings, attr.GidMappingsEnableSetgroups, err = r.identity()
	// These outlive the start of this program, and end before that of the agent.
	attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP)
	if r.Network != nil {
		attr.Cloneflags |= syscall.CLONE_NEWNET
		attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE)
	}
	return err
}

// pair makes the connection by which the program in the box reports to the gateway.
func pair() (ours *net.UnixConn, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "box")
	defer f.Close()
	theirs = os.NewFile(uintptr(fds[1]), "report")
	conn, err := net.FileConn(f)
	ours, is := conn.(*net.UnixConn)
	if err != nil || !is {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return ours, theirs, nil
}

// mostSockets bounds what the program in the box hands out, which the kernel does too.
const mostSockets = 253

// read reads a report to its end, and the sockets that come with it.
func read(reports *net.UnixConn) (text []byte, files []*os.File, err error) {
	part, rights := make([]byte, 4096), make([]byte, unix.CmsgSpace(4*mostSockets))
	for len(text) < 1<<16 {
		n, oob, _, _, err := reports.ReadMsgUnix(part, rights)
		text = append(text, part[:n]...)
		messages, _ := unix.ParseSocketControlMessage(rights[:oob]) //nolint:errcheck // the kernel writes it
		for i := range messages {
			fds, _ := unix.ParseUnixRights(&messages[i]) //nolint:errcheck // as above
			for _, fd := range fds {
				files = append(files, os.NewFile(uintptr(fd), "socket in a box")) //nolint:gosec // a descriptor is small
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return text, files, err
		}
	}
	return bytes.TrimSpace(text), files, nil
}

// await reads the report of the program in the box. The connection ends without one when the program becomes
// the agent.
func await(path string, reports *net.UnixConn) ([]*os.File, error) {
	_ = reports.SetReadDeadline(time.Now().Add(setUpWithin))
	text, files, err := read(reports)
	if err == nil && len(text) == 0 {
		return files, nil
	}
	var f failure
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return files, fmt.Errorf("the box of the program was not set up within %s: see whether a file system hangs", setUpWithin)
	case err != nil:
		return files, fmt.Errorf("the box of the program cannot be set up: %w", err)
	case json.Unmarshal(text, &f) != nil:
		return files, fmt.Errorf("the box of the program cannot be set up: %.200q", text)
	case f.Step == "":
		return files, &fs.PathError{Op: "start", Path: path, Err: f.Errno}
	}
	return files, forbidden(f.Step, f.Errno)
}

// identity maps users and groups to themselves: those of the rule's user, or every one of this process. A
// gateway without privileges may map only its own.
func (r Rule) identity() (uids, gids []syscall.SysProcIDMap, groups bool, err error) {
	each := func(ids ...int) (all []syscall.SysProcIDMap) {
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			all = append(all, syscall.SysProcIDMap{ContainerID: id, HostID: id, Size: 1})
		}
		return all
	}
	if r.User != nil {
		return each(r.User.UID), each(append([]int{r.User.GID}, r.User.Groups...)...), true, nil
	}
	// To map user 0 the kernel wants a third one.
	if lacks, err := mayNot(1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETFCAP); lacks {
		return each(os.Geteuid()), each(os.Getegid()), false, err
	}
	if uids, err = ownMap("/proc/self/uid_map"); err == nil {
		gids, err = ownMap("/proc/self/gid_map")
	}
	return uids, gids, true, err
}

// ownMap reads which ids there are here, and maps each to itself.
func ownMap(file string) (all []syscall.SysProcIDMap, err error) {
	text, err := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		var first, above, size int
		if _, wrong := fmt.Sscan(line, &first, &above, &size); wrong == nil {
			all = append(all, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: size})
		}
	}
	return all, err
}
