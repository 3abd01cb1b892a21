package sqllog_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

// impostor is a server that speaks PostgreSQL's protocol as far as the gateway's first
// question, for its version. The function answer gets each later message, and closes the
// connection by returning false.
func impostor(t *testing.T, answer func(*pgproto3.Backend, pgproto3.FrontendMessage) bool) sqllog.Options {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it takes no time
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			all.Go(func() { serveAs(c, answer) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return sqllog.Options{Dir: t.TempDir(), URL: fmt.Sprintf("postgres://test:secret@%s/x?sslmode=disable", l.Addr())}
}

func serveAs(c net.Conn, answer func(*pgproto3.Backend, pgproto3.FrontendMessage) bool) {
	defer c.Close()
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil || !answer(b, m) {
			return
		}
	}
}

// version answers the question for the version of the server.
func version(number uint32) func(*pgproto3.Backend, pgproto3.FrontendMessage) bool {
	const int4 = 23
	column := &pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("v"), DataTypeOID: int4, DataTypeSize: 4, TypeModifier: -1, Format: 1}}}
	return func(b *pgproto3.Backend, m pgproto3.FrontendMessage) bool {
		switch m := m.(type) {
		case *pgproto3.Parse:
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Describe:
			if m.ObjectType == 'S' {
				b.Send(&pgproto3.ParameterDescription{})
			}
			b.Send(column)
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Execute:
			b.Send(&pgproto3.DataRow{Values: [][]byte{binary.BigEndian.AppendUint32(nil, number)}})
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Query:
			b.Send(&pgproto3.EmptyQueryResponse{})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Terminate:
			return false
		}
		return true
	}
}

func TestAServerThatIsTooOld(t *testing.T) {
	t.Parallel()
	sentence := refused(t, impostor(t, version(120022)))
	wants(t, sentence, "the database x on 127.0.0.1:", "it is PostgreSQL 12, and Tributary needs 13 or newer")
}

func TestAConnectionThatIsLostAtStart(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*pgproto3.Backend, pgproto3.FrontendMessage) bool{
		"closed": func(*pgproto3.Backend, pgproto3.FrontendMessage) bool { return false },
		"going down": func(b *pgproto3.Backend, _ pgproto3.FrontendMessage) bool {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command"})
			_ = b.Flush()
			return false
		},
		"silent": func(*pgproto3.Backend, pgproto3.FrontendMessage) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			sentence := refused(t, impostor(t, answer))
			wants(t, sentence, "the database x on 127.0.0.1:", "cannot be reached: start its server, or correct --db")
			if strings.Contains(sentence, "\n") {
				t.Errorf("more than one line: %q", sentence)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("the refusal took %s", took)
			}
		})
	}
}

func TestADatabaseFileThatIsReadOnly(t *testing.T) {
	t.Parallel()
	o := sqllog.Options{Dir: t.TempDir()}
	if err := open(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.Dir, "tributary.db")
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	readOnly(t, name)
	wants(t, refused(t, o), "the database "+name+" cannot be written: correct its permissions, or choose another --data directory")
	if after, err := os.ReadFile(name); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, or: %v", err)
	}
}
