package tributary_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// limitSources says where the program has the numbers of docs/reference/limits.md. Each limit has
// its sources in the order in which its default names the numbers. "session maxEvent" is a constant of the package, or
// of one of its functions. "session &o.MaxQueue" is the constant next to that expression: what is
// assigned to it, or the next argument or value.
func limitSources() map[string][]string {
	const reading, writing, sharing = "gateway o.Read", "uistream writeWithin", "session/agentset memoryShare.most"
	return map[string][]string{
		"requests a second, for a long time":                          {"gateway/limit &o.Requests"},
		"requests at once":                                            {"gateway/limit &o.Burst"},
		"open streams":                                                {"gateway/limit &o.Streams"},
		"prompts that run or wait, in all sessions":                   {"session &o.MaxPrompts"},
		"memory of chats that are being read":                         {},
		"messages of prompts that run or wait, together":              {},
		"memory of reads under way":                                   {"gateway/limit o.Memory", "reads of the share"},
		"The share":                                                   {"session/agentset memoryShare.least", sharing},
		"under way at once; of one person":                            {"gateway/authz maxLookups", "gateway/authz maxLookupsOfOne"},
		"time of one":                                                 {"gateway/authz findWithin"},
		"remembered answers":                                          {"gateway/authz maxEntries"},
		"sessions at a time that a good token tries and may not see":  {"gateway/authz maxTried"},
		"subscribers of one session":                                  {"gateway/limit &o.Clients"},
		"sessions whose changes wait for one client of a pushed list": {"session mostChanges"},
		"chunks that are kept of a response at a session's chat address; of all such responses": {"gateway/chatrun maxTape", "gateway/chatrun keepFor", "gateway/chatrun maxKept"},
		"listed channels; length of a channel's name":                                           {"session mostChannels", "session longestChannel"},
		"text of a part that searches know; words of it":                                        {"eventlog searchedText", "eventlog mostWords"},
		"turns that the gateway searches for tools":                                             {"gateway toolTurns"},
		"members; length of a member's name":                                                    {"session maxMembers", "session maxMember"},
		"scores of one session; in one call":                                                    {"session maxScored", "session maxScores"},
		"reason of a score; ids of its evidence":                                                {"trace maxScoreReason", "trace maxScoreEvidence"},
		"prompts that wait in one session":                                                      {"session &o.MaxQueue"},
		"size of the records of one turn":                                                       {"session &o.MaxTurnBytes"},
		"records of one turn":                                                                   {"session &o.MaxTurnRecords"},
		"a text, a thought, the input of a tool, or another record of an agent":                 {"session maxEvent"},
		"texts, thoughts and calls without a result, in memory, of one turn; of all turns":      {"session maxHeld"},
		"silence of an agent, while no tool runs and no request waits":                          {"session &o.IdleLimit"},
		"age of a permission request or a question":                                             {"session &o.AnswerLimit"},
		"agents with a process of their own":                                                    {"session &o.MaxAgents"},
		"agents of one person; one person alone may have all":                                   {},
		"output of a tool": {"session maxEvent"},
		"hosts of egress; of them on this machine; connections of a process to the proxy, and to each of these": {"policy/egress MaxHosts", "policy/egress MaxLoopback", "policy/egress MaxConnections"},
		"time to connect to a host of egress; a connection to it without a byte in either direction":            {"policy/egress ConnectWithin", "policy/egress IdleAfter"},
		"settings files of a workspace; names that are looked at for them; of one file, what a person is shown": {"agent mostSettingsFiles", "agent mostSettingsNames", "agent mostSettingsShown"},
		"hosts outside of egress that one turn has on record; wait of a connection for a person":                {"session mostReaches", "session egressWait"},
		"time to make a workspace; time of one call of git":                                                     {"policy/workspace/spaces makeWithin", "policy/workspace/spaces gitWithin"},
		"a copy of a directory, as a workspace; names in it; depth of its directories":                          {"policy/workspace/spaces maxCopyBytes", "policy/workspace/spaces maxCopyEntries", "policy/workspace/spaces maxCopyDepth"},
		"words for what failed, or for why a turn ended":                                                        {"trace mostErrorText"},

		"a line of an agent's output":            {"internal/procio cfg.MaxLine"},
		"JSON values in one message of an agent": {"agent/agentkit mostValues"},
		"answers that an agent has asked for and not read; their sizes together; time until it reads one": {"agent/agentkit mostUnread", "agent/agentkit mostUnreadBytes", "agent/agentkit unreadTime"},
		"headers, path included":                                    {"internal/cli maxHeader"},
		"a JSON Web Token; any other token":                         {"access maxJWT", "access maxTokenFile"},
		"a set of published keys; keys in it":                       {"access maxKeySet", "access maxKeys"},
		"time to read published keys; time between two readings":    {"access keysWithin", "access keysBetween"},
		"time for the headers":                                      {"internal/cli readHeaderWithin"},
		"the body of a chat":                                        {"gateway/chatbody MaxBytes"},
		"one message of the body, and one text":                     {"gateway/chatbody maxKept"},
		"the metadata of a user message; an updated_input":          {"gateway/chatbody maxPassedOn"},
		"a number in the body":                                      {"gateway/chatbody maxNumber"},
		"an id, or another single word of the body":                 {"gateway/chatbody maxWord"},
		"nesting of the body":                                       {"gateway/chatbody maxDepth"},
		"space between two tokens of the body":                      {"gateway/chatbody maxSpace"},
		"any other body":                                            {"gateway readJSON.limit"},
		"time for a piece of a body; its pace after the first 30 s": {reading, "gateway/limit slowestBody"},
		"time for a body that the route does not read":              {reading},

		"news of an agent beside its turns, such as its modes; more of it each second; one of it": {"session mostUnasked", "session noteUnit", "session moreUnasked", "session maxNote"},
		"messages of an ACP agent that wait for its next turn; their sizes together":              {"adapter/acp mostEarly", "adapter/acp mostEarlyBytes"},
		"pieces of news that a turn counts which the agent begins by itself":                      {"session weightOfTurn"},

		"a session id":                  {"session MaxID"},
		"the id of a message":           {"gateway/chatbody maxMessageID"},
		"a file of a message":           {},
		"words of a search":             {"gateway mostSearched"},
		"turns in a page of history":    {"gateway messages.most"},
		"size of a page of history":     {"session PageBytes"},
		"connections of everybody":      {"internal/cli byDefault"},
		"connections at metrics_listen": {"internal/cli mostScrapers"},

		"time for the client to take a piece of an answer, 32 KB": {writing},
		"silence on a stream": {"uistream keepaliveEvery"},
		"time until the client's system acknowledges sent bytes (Linux)": {"internal/cli userTimeout"},

		"newest records of one session in memory; of all sessions": {"eventlog/sqllog defaultLiveBytes", "eventlog/sqllog defaultTotalBytes", "eventlog/sqllog smallLive"},
		"an idle connection":                                        {"internal/cli idleWithin"},
		"frames that a client sends":                                {},
		"a frame of a client or a runner":                           {"gateway/agentops maxFrame"},
		"time for a piece of a frame; its pace":                     {reading, "gateway/agentops slowestFrame"},
		"unread bytes of a client":                                  {"internal/wsconn maxUnread", "internal/wsconn unreadWithin"},
		"time for a write, and for the answer to a ping":            {writing},
		"size of a message.updated":                                 {"export/agentops o.MaxMessage"},
		"history for a client of Agent Ops":                         {"gateway messages.page", "gateway/agentops Messages.most"},
		"attachments of a prompt":                                   {"gateway/agentops mostAttachments"},
		"users in presence frames":                                  {"gateway/agentops mostUsers"},
		"time until a removed member is noticed who sends nothing":  {"gateway/agentops checkEvery"},
		"wait for a session's first runner, or for a ready one":     {"agent/agentkit startTime"},
		"wait for a runner that is gone":                            {"agent/agentkit goneTime"},
		"wait for a runner's last word after the end of its answer": {"agent/agentkit closeTime"},
		"questions of a runner that wait, in one turn":              {"adapter/agentops/runner mostAsks"},

		"the check of the SQLite file at the start":                        {"eventlog/sqllog defaultCheck"},
		"time between two back-ups, at least; back-ups that stay, at most": {"config minBackupEvery", "config maxBackupKeep"},

		"a command of a case":                 {"eval/run commandTime"},
		"a file that a grader reads":          {"eval/run maxJudgedFile"},
		"a question to a judge; the answer":   {"eval/judge maxRequest", "eval/judge maxAnswer"},
		"an attempt to ask a judge; attempts": {"eval/judge answerLimit", "eval/judge maxAttempts"},
		"results in a directory; one of them": {"eval MaxCells", "eval MaxCellLine"},

		"words of a model's answer (openai); its bytes; calls; parts": {"adapter/openai maxSaid", "adapter/openai maxStream", "adapter/openai maxCalls", "adapter/openai maxParts"},
		"sources of such an answer; pictures; provider state":         {"adapter/openai maxSources", "adapter/openai maxPictures", "adapter/openai maxState"},
	}
}

// Each number of the defaults in docs/reference/limits.md is the program's own.
func TestThePageOfLimitsHasTheNumbersOfTheProgram(t *testing.T) {
	sources, seen := limitSources(), map[string]bool{}
	program := constants{}
	for line := range strings.Lines(text(t, "docs/reference/limits.md")) {
		limit, byDefault, is := limitOf(line)
		if !is {
			continue
		}
		from, known := sources[limit]
		if !known {
			t.Errorf("docs/reference/limits.md has the limit %q: say in limitSources where the program has its number", limit)
			continue
		}
		seen[limit] = true
		numbers := numbersIn(byDefault)
		if len(numbers) != len(from) {
			t.Errorf("the limit %q has the numbers %v, and %d places of the program", limit, numbers, len(from))
			continue
		}
		for i, n := range numbers {
			value, err := program.value(from[i])
			if err != nil {
				t.Errorf("the limit %q: %v", limit, err)
			} else if value != n {
				t.Errorf("the limit %q is %d on the page (%s), and %d in the program (%s)", limit, n, byDefault, value, from[i])
			}
		}
	}
	for limit := range sources {
		if !seen[limit] {
			t.Errorf("docs/reference/limits.md has no limit %q", limit)
		}
	}
}

// limitOf reads a row of a table of limits, or the definition of the share.
func limitOf(line string) (limit, byDefault string, is bool) {
	plain := regexp.MustCompile(`\[([^]]*)]\([^)]*\)`).ReplaceAllString(line, "$1")
	if share, ok := strings.CutPrefix(plain, "- **The share** "); ok {
		return "The share", share, true
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(plain), "|"), "|")
	if !strings.HasPrefix(line, "|") || len(cells) < 3 {
		return "", "", false
	}
	limit, byDefault = strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])
	heading := strings.HasPrefix(limit, "limit") || strings.HasPrefix(limit, "-")
	return strings.ReplaceAll(limit, "`", ""), regexp.MustCompile("`[^`]*`").ReplaceAllString(byDefault, ""), !heading
}

var written = regexp.MustCompile(`\b(\d[\d,]*)(?: ?(KB|MB|GB|ms|s|min|h)\b)?`)

// numbersIn returns the numbers of a text: sizes in bytes, and times in nanoseconds.
func numbersIn(text string) (all []int64) {
	units := map[string]int64{"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}
	for _, m := range written.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64) // digits
		all = append(all, n*units[m[2]])
	}
	return all
}

// constants are packages of the program, read from their sources.
type constants map[string]*constantsOf

type constantsOf struct {
	files []*ast.File
	info  types.Info
}

// value is the value of what limitSources names.
func (c constants) value(place string) (int64, error) {
	if place == "reads of the share" { // the oldest read does not count
		share, err := c.value("gateway/limit o.Memory")
		if err != nil {
			return 0, err
		}
		read, err := c.value("gateway readCost")
		return share/read + 1, err
	}
	v, err := c.constant(place)
	if err != nil {
		return 0, err
	}
	n, exact := constant.Int64Val(constant.ToInt(v))
	if !exact {
		return 0, fmt.Errorf("%s is %s, which is no whole number", place, v)
	}
	return n, nil
}

// constant is what limitSources names.
func (c constants) constant(place string) (constant.Value, error) {
	dir, what, _ := strings.Cut(place, " ")
	s, err := c.read(dir)
	if err != nil {
		return nil, err
	}
	found := s.find(what)
	if len(found) != 1 {
		return nil, fmt.Errorf("the package %s has %d constants at %s, want one", dir, len(found), what)
	}
	return found[0], nil
}

// find returns the values of a constant, with the name of its function in front of a dot or
// without, or of what stands next to an expression.
func (s *constantsOf) find(what string) (found []constant.Value) {
	function, name, local := strings.Cut(what, ".")
	for _, file := range s.files {
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if local && is && f.Name.Name == function {
				found = append(found, s.named(f, name)...)
			}
		}
		found = append(found, s.named(file, what)...)
	}
	if len(found) > 0 {
		return found
	}
	for _, file := range s.files {
		found = append(found, s.nextTo(file, what)...)
	}
	return found
}

// named returns the values of the constants of a name.
func (s *constantsOf) named(in ast.Node, name string) (found []constant.Value) {
	ast.Inspect(in, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && id.Name == name {
			if c, is := s.info.Defs[id].(*types.Const); is {
				found = append(found, c.Val())
			}
		}
		return true
	})
	return found
}

// nextTo returns the constants that stand next to an expression: in an assignment, a call or a
// composite value.
func (s *constantsOf) nextTo(in ast.Node, what string) (found []constant.Value) {
	ast.Inspect(in, func(n ast.Node) bool {
		var sides []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			sides = append(append(sides, n.Lhs...), n.Rhs...)
		case *ast.CallExpr:
			sides = n.Args
		case *ast.CompositeLit:
			sides = n.Elts
		}
		for i, e := range sides[:max(len(sides)-1, 0)] {
			if v := s.info.Types[sides[i+1]].Value; types.ExprString(e) == what && v != nil {
				found = append(found, v)
			}
		}
		return true
	})
	return found
}

// read reads the sources of a package. Types of other packages are not known, except those of
// times: the constants need no others.
func (c constants) read(dir string) (*constantsOf, error) {
	if s := c[dir]; s != nil {
		return s, nil
	}
	s := &constantsOf{info: types.Info{Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
	names, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("there is no package %s: %w", dir, errors.Join(err, fs.ErrNotExist))
	}
	set := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, dir+"/"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, file)
	}
	config := types.Config{Importer: times{}, Error: func(error) {}} // what is not known is no constant
	_, _ = config.Check(dir, set, s.files, &s.info)
	c[dir] = s
	return s, nil
}

// times imports the constants of the package time, and the one of ours that a limit is made of.
type times struct{}

func (times) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	add := func(name string, of types.Type, value int64) {
		p.Scope().Insert(types.NewConst(token.NoPos, p, name, of, constant.MakeInt64(value)))
	}
	switch path {
	case "time":
		duration := types.NewTypeName(token.NoPos, p, "Duration", nil)
		of := types.NewNamed(duration, types.Typ[types.Int64], nil)
		p.Scope().Insert(duration)
		for name, value := range map[string]int64{"Nanosecond": 1, "Microsecond": 1e3, "Millisecond": 1e6, "Second": 1e9, "Minute": 60e9, "Hour": 3600e9} {
			add(name, of, value)
		}
	case module + "/session":
		page, err := constants{}.value("session PageBytes")
		if err != nil {
			return nil, err
		}
		add("PageBytes", types.Typ[types.UntypedInt], page)
	default:
		return nil, fmt.Errorf("%s is not read", path)
	}
	p.MarkComplete()
	return p, nil
}
