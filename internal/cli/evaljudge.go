package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/judge"
)

// judgeFlags are those of commands whose graders may ask a model.
type judgeFlags struct {
	NoJudge    bool   `help:"Ask no model: graders of the type judge are skipped."`
	JudgeCache string `placeholder:"DIR" help:"The directory of known answers, which cost nothing again (default judge in the results, or your user's cache)."`
}

// judge is the judge of sessions, and nil if none is to be asked. Results is the directory of the
// results, if there is one. The caller calls done.
func (c *judgeFlags) judge(results string) (j eval.Judge, done func()) {
	if c.NoJudge {
		return nil, func() {}
	}
	cache := c.JudgeCache
	if cache == "" && results != "" {
		cache = filepath.Join(results, "judge")
	} else if cache == "" {
		if user, err := os.UserCacheDir(); err == nil { // without one, nothing is kept
			cache = filepath.Join(user, "tributary", "judge")
		}
	}
	made := judge.New(judge.Config{Cache: cache})
	return made, made.Close
}

// judgeUsed prints what judges took, if one was asked.
func (p *program) judgeUsed(u eval.JudgeUse) {
	if u.Calls+u.Cached == 0 {
		return
	}
	fmt.Fprintf(p.stderr, "tributary: answers of the judge: %s\n", u)
}
