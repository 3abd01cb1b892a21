package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with the program in it.
type terminal struct {
	t      *testing.T
	master *os.File
	screen *output
	cmd    *exec.Cmd
}

// startTerminal starts the program in a terminal of its own.
func startTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals: %v", err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, master: master, screen: &output{}, cmd: exec.CommandContext(t.Context(), program, args...)}
	term.cmd.Env = append(os.Environ(), asProgram+"=1")
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = slave, slave, slave
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			_, _ = term.screen.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		<-read // the slave is closed when the program has ended
		_ = master.Close()
	})
	return term
}

// wait waits until the screen shows a text behind what it has shown before.
func (term *terminal) wait(text string) {
	term.t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(term.screen.String(), text) {
			return
		}
	}
	term.t.Fatalf("the screen does not show %q:\n%s", text, term.screen)
}

func (term *terminal) say(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// ends waits for the end of the program and returns its exit status.
func (term *terminal) ends() int {
	_ = term.cmd.Wait()
	return term.cmd.ProcessState.ExitCode()
}

func TestAPersonChatsInATerminal(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))
	term := startTerminal(t, s.at(data, "chat")...)
	term.wait("Ctrl+C stops a turn, Ctrl+D ends the chat")
	term.say("approve\n")
	term.wait("May the agent do this? Run echo hello")
	term.wait("y, n or a number: ") // else the terminal echoes the words before the program has asked
	term.say("perhaps\n")
	term.wait("y, n or a number: perhaps\r\ny, n or a number: ")
	term.say("1\n")
	term.wait("I was allowed to run it: echo hello")
	term.say("ask\n")
	term.wait("your answer: ")
	term.say("2\n")
	term.wait("You chose green.\r\n> ") // else the terminal echoes the words before the program has written its hint
	term.say("quiet\n")
	term.wait("> quiet")
	term.say("error\n")
	term.wait("tributary: The demo agent failed, as it was asked to.")
	term.say("\x04")
	if status := term.ends(); status != exitOK {
		t.Errorf("exit status %d:\n%s", status, term.screen)
	}
}

func TestCtrlCStopsTheTurnAndThenTheChat(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, data)
	term := startTerminal(t, s.at(data, "chat")...)
	term.wait("> ")
	term.say("slow\n")
	term.wait("many streams")
	term.say("\x03")
	term.wait("Stopped.")
	time.Sleep(sameSignal)
	term.say("\x03")
	if status := term.ends(); status != exitOK {
		t.Errorf("exit status %d:\n%s", status, term.screen)
	}
	if _, body := s.do("GET", "/api/sessions", ""); !strings.Contains(body, `"title":"slow"`) || !strings.Contains(body, `"state":"idle"`) {
		t.Errorf("the sessions: %s", body)
	}
}

func TestASessionIsDeletedAfterAYes(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))
	s.do("POST", "/api/sessions", `{"id":"notes","title":"My notes"}`)
	for answer, there := range map[string]int{"n\n": 200, "\n": 200} {
		term := startTerminal(t, s.at(data, "sessions", "delete", "notes")...)
		term.wait(`Delete the session "My notes" of demo for ever? y or n: `)
		term.say(answer)
		term.wait("The session stays.")
		if status := term.ends(); status != exitOK {
			t.Errorf("exit status %d:\n%s", status, term.screen)
		}
		if status, _ := s.do("GET", "/api/sessions/notes", ""); status != there {
			t.Errorf("after %q: %d", answer, status)
		}
	}
	term := startTerminal(t, s.at(data, "sessions", "delete", "notes")...)
	term.wait("y or n: ")
	term.say("y\n")
	if status := term.ends(); status != exitOK {
		t.Errorf("exit status %d:\n%s", status, term.screen)
	}
	if status, _ := s.do("GET", "/api/sessions/notes", ""); status != 404 {
		t.Errorf("the session is there: %d", status)
	}
}

// On a terminal a gateway of several people prints a link that signs in once, and one for one
// person prints the URL with the token, each time the same.
func TestATerminalShowsALinkThatSignsInOnce(t *testing.T) {
	t.Setenv("TRIBUTARY_TEST_JWT_SECRET", "a-secret-of-the-team-0123456789-0123456789")
	data := filepath.Join(t.TempDir(), "data")
	shows := func(args ...string) (term *terminal, base, token string) {
		t.Helper()
		term = startTerminal(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--cwd", t.TempDir()}, args...)...)
		term.wait("/?token=")
		term.wait("ready")
		term.wait("\r\n")
		found := regexp.MustCompile(`(http://[0-9.:]+)/\?token=([^\s]+)\r\n`)
		for until := time.Now().Add(patience); !found.MatchString(term.screen.String()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("no link: %s", term.screen)
			}
		}
		m := found.FindStringSubmatch(term.screen.String())
		return term, m[1], m[2]
	}
	end := func(term *terminal) {
		t.Helper()
		if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if status := term.ends(); status != exitOK {
			t.Errorf("exit status %d: %s", status, term.screen)
		}
	}
	term, _, token := shows()
	if minted := adminToken(t, data); minted != token {
		t.Errorf("for one person the URL has %q, and the file %q", token, minted)
	}
	end(term)

	term, base, link := shows("--config", file(t, "t.yaml", several))
	term.wait("signs in as admin once, within 15 minutes")
	if link == token {
		t.Fatal("several people see the token itself")
	}
	s := &server{t: t, base: base}
	if status, _ := s.withToken(link, "GET", "/api/sessions", ""); status != 401 {
		t.Errorf("the link is a token: %d", status)
	}
	b := newBrowser(t, base, nil)
	b.open(link)
	if status, body := b.ask("GET", "/auth/me", ""); status != 200 || !strings.Contains(body, `"role":"admin"`) {
		t.Errorf("the link signs in as %d %s", status, body)
	}
	res, err := http.Get(base + "/?token=" + link)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 401 {
		t.Errorf("the link works twice: %s", res.Status)
	}
	if status, _ := s.withToken(token, "GET", "/api/sessions", ""); status != 200 {
		t.Errorf("the existing token: %d", status)
	}
	end(term)
	for _, text := range filesOf(t, data) {
		if bytes.Contains(text, []byte(link)) {
			t.Error("a file holds the link")
		}
	}
}
