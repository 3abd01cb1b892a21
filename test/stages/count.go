package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// count is how many tests passed, failed and were skipped.
type count struct{ passed, failed, skipped int }

func (c count) String() string {
	if c == (count{}) {
		return ""
	}
	return fmt.Sprintf(", %d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

func (c *count) add(o count) {
	c.passed += o.passed
	c.failed += o.failed
	c.skipped += o.skipped
}

// counted reads the closing lines of Node's test runner, of gotestsum, and of the programs of
// test/conformance.
func counted(log string) (all count) {
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // an empty group is none
		return n
	}
	node := regexp.MustCompile(`^[ℹ#] (pass|fail|skipped) (\d+)$`)
	gotestsum := regexp.MustCompile(`^DONE (\d+) tests?(?:, (\d+) skipped)?(?:, (\d+) failures?)?(?:, \d+ errors?)? in `)
	plain := regexp.MustCompile(`^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$`)
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if m := node.FindStringSubmatch(line); m != nil {
			switch n := number(m[2]); m[1] {
			case "pass":
				all.passed += n
			case "fail":
				all.failed += n
			default:
				all.skipped += n
			}
		}
		if m := gotestsum.FindStringSubmatch(line); m != nil {
			skipped, failed := number(m[2]), number(m[3])
			all.add(count{number(m[1]) - skipped - failed, failed, skipped})
		}
		if m := plain.FindStringSubmatch(line); m != nil {
			all.add(count{number(m[1]), number(m[2]), number(m[3])})
		}
	}
	return all
}

// report prints the table of the stages and the sum of their tests, and once more the last lines of each
// stage that failed. A stage that failed without a test that failed counts as one.
func report(all []*stage, took time.Duration) error {
	fmt.Printf("\n%-24s %6s %7s %9s  %s\n", "stage", "began", "seconds", "processor", "tests")
	var sum count
	var processor time.Duration
	var failed []string
	for _, s := range all {
		tests := strings.TrimPrefix(s.count.String(), ", ")
		if s.err != nil {
			failed = append(failed, s.name)
			tests = strings.TrimPrefix(tests+"; FAILED: "+s.err.Error(), "; ")
			if s.count.failed == 0 {
				s.count.failed = 1
			}
		}
		sum.add(s.count)
		processor += s.processor
		fmt.Printf("%-24s %6.0f %7.0f %9.0f  %s\n", s.name, s.began.Seconds(), s.took.Seconds(), s.processor.Seconds(), tests)
	}
	fmt.Printf("%-24s %6s %7.0f %9.0f\n\n", "all", "", took.Seconds(), processor.Seconds())
	for _, s := range all {
		if s.end != "" {
			fmt.Printf("%s ended with:\n%s\n\n", s.name, s.end[max(0, len(s.end)-lastWords):])
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped)
	if len(failed) > 0 {
		return fmt.Errorf("%d stages failed; to repeat one alone: %s", len(failed), again(failed...))
	}
	return nil
}
