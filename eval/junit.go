package eval

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
)

// This file writes results for programs that read JUnit's XML.

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`

	seconds float64
}

type junitCase struct {
	Class    string      `xml:"classname,attr"`
	Name     string      `xml:"name,attr"`
	Time     string      `xml:"time,attr"`
	Failures []junitNote `xml:"failure"`
	Error    *junitNote  `xml:"error"`
	Skipped  *junitNote  `xml:"skipped"`
}

type junitNote struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Records string `xml:",chardata"`
}

// WriteJUnit writes results as XML, with a test suite for each agent and a test case for each
// result. A failure has the ids of the records that show it, one a line.
func WriteJUnit(w io.Writer, results []Result) error {
	root := struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []*junitSuite
	}{}
	suites := map[string]*junitSuite{}
	for _, r := range results {
		s := suites[r.Agent.Name]
		if s == nil {
			s = &junitSuite{Name: cmp.Or(r.Agent.Name, "unknown")}
			suites[r.Agent.Name] = s
			root.Suites = append(root.Suites, s)
		}
		s.add(r)
	}
	out, err := xml.MarshalIndent(root, "", "  ")
	if err == nil {
		_, err = w.Write(slices.Concat([]byte(xml.Header), out, []byte("\n")))
	}
	return err //nolint:wrapcheck // the writer's own
}

func (s *junitSuite) add(r Result) {
	c := junitCase{Class: r.Case, Name: r.Session, Time: fmt.Sprintf("%.3f", r.Seconds)}
	switch r.Verdict {
	case Failed:
		s.Failures++
		for _, f := range r.deciding() {
			c.Failures = append(c.Failures, junitNote{f.Grader, f.Reason, strings.Join(f.Evidence, "\n")})
		}
	case Errored:
		s.Errors++
		c.Error = &junitNote{Message: r.Reason, Records: strings.Join(r.Evidence, "\n")}
	case Skipped:
		s.Skipped++
		c.Skipped = &junitNote{Message: r.Reason}
	case Passed, Unclear:
	}
	s.Tests++
	s.seconds += r.Seconds
	s.Time = fmt.Sprintf("%.3f", s.seconds)
	s.Cases = append(s.Cases, c)
}
