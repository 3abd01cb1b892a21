package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/sse"
)

// maxLine bounds a line; agents write some of half a megabyte.
const maxLine = 256 << 20

// scanner takes a recording apart into messages.
type scanner struct {
	in     *bufio.Reader
	line   int
	format format
	events *sse.Reader // of server-sent events
	eof    bool
}

// format is what kind of recording it is.
type format int

const (
	unknown format = iota
	native         // JSON lines as the agent writes them
	both           // our own lines with a direction
	events         // server-sent events
)

func newScanner(r io.Reader) *scanner {
	return &scanner{in: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next message and when it came; io.EOF after the last.
func (s *scanner) next() (agent.Message, time.Duration, error) {
	for {
		if s.format == events {
			m, err := s.nextEvent()
			return m, 0, err
		}
		line, err := s.readLine()
		if err != nil {
			return agent.Message{}, 0, err
		}
		if s.format == unknown {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if s.format, err = detect(line); err != nil {
				return agent.Message{}, 0, err
			}
		}
		switch s.format {
		case events:
			s.events = sse.NewReader(io.MultiReader(bytes.NewReader(append(line, '\n')), s.in), maxLine)
		case both:
			if m, at, ok := ownLine(line); ok {
				return m, at, nil
			}
		default:
			if line = bytes.TrimSpace(line); len(line) > 0 {
				return agent.Message{Dir: agent.Out, Data: bytes.Clone(line)}, 0, nil
			}
		}
	}
}

// readLine returns a line without its end. The last one need not have one.
func (s *scanner) readLine() ([]byte, error) {
	if s.eof {
		return nil, io.EOF
	}
	s.line++
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("line %d of the recording is longer than %d MB", s.line, maxLine>>20)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			s.eof = true
			if len(line) == 0 {
				return nil, io.EOF
			}
		case err != nil:
			return nil, fmt.Errorf("read the recording: %w", err)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if s.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		return line, nil
	}
}

// detect tells the format by the first line that is not empty.
func detect(line []byte) (format, error) {
	if isSSE(line) {
		return events, nil
	}
	if !json.Valid(line) {
		return unknown, errors.New("the recording is neither lines of JSON nor server-sent events: its first line is neither")
	}
	var head struct {
		Dir *string `json:"dir"`
	}
	if json.Unmarshal(line, &head) == nil && head.Dir != nil {
		return both, nil
	}
	return native, nil
}

// ownLine reads a line of Tributary's own format. A line without a message is skipped.
func ownLine(line []byte) (agent.Message, time.Duration, bool) {
	var l struct {
		T       float64         `json:"t"`
		Dir     string          `json:"dir"`
		Channel string          `json:"channel"`
		Msg     json.RawMessage `json:"msg"`
		Text    json.RawMessage `json:"text"`
		Lost    bool            `json:"lost"` // the message was sent and did not arrive
	}
	if json.Unmarshal(line, &l) != nil {
		if len(bytes.TrimSpace(line)) == 0 {
			return agent.Message{}, 0, false
		}
		return agent.Message{Dir: agent.Out, Data: bytes.Clone(line)}, 0, true // the decoder will say what it thinks of it
	}
	m := agent.Message{Channel: l.Channel, Data: l.Msg}
	if len(m.Data) == 0 {
		m.Data = l.Text
	}
	switch l.Dir {
	case "in", "out", "err":
		m.Dir = agent.Dir(l.Dir)
	case "sse":
		m.Dir, m.Channel = agent.Out, l.Dir
	case "s2c", "r2d": // what a session agent says, and a runner
		m.Dir, m.Channel = agent.Out, l.Dir
	case "c2s", "d2r":
		m.Dir, m.Channel = agent.In, l.Dir
	case "http":
		m = agent.Message{Dir: agent.Out, Channel: l.Dir, Data: bytes.Clone(line)}
	case "http-res":
		m = agent.Message{Dir: agent.Out, Channel: l.Dir, Data: bytes.Clone(line)}
	case "http-req":
		m = agent.Message{Dir: agent.In, Channel: l.Dir, Data: bytes.Clone(line)}
	}
	at := time.Duration(min(max(l.T, 0), 1e12) * float64(time.Millisecond))
	return m, at, m.Dir != "" && len(m.Data) > 0 && !l.Lost
}
