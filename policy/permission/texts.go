package permission

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

const (
	// mostWords bounds the texts of a command that are looked at.
	mostWords = 512
	// deepestQuotes is how many texts in quotes may stand in each other.
	deepestQuotes = 4
)

// texts are the texts of a call that may name a file.
type texts struct {
	words []string // paths, and the words of commands
	parts []string // what stands within other texts of a command: in quotes, or behind a sign
	more  bool     // there are more than are looked at
}

// texts collects them. An input that is not understood names whatever its strings say.
func (s Scope) texts(c trace.ToolCall) texts {
	reach := s.Tools.Reach(c.RawName, c.Input)
	words := slices.Concat(reach.Named, reach.Loose)
	for _, l := range c.Locations {
		words = append(words, l.Path)
	}
	var unclear []string
	if reach.Unclear != "" {
		unclear = everyString(c.Input)
		words = append(words, unclear...)
	}
	if c.ToolKind != trace.ToolExecute {
		return texts{words: words[:min(len(words), mostPaths)], more: len(words) > mostPaths}
	}
	return ofCommand(words, reach, slices.Concat(reach.Commands, reach.Loose, unclear))
}

// ofCommand adds the texts in the lines of a command to its words.
func ofCommand(words []string, reach toolkind.Reach, lines []string) texts {
	n := textList{seen: map[string]bool{}}
	n.add(words...)
	for _, line := range reach.Commands {
		words, plain := simple(line)
		if !plain {
			words, _ = split(line)
		}
		for _, w := range words {
			n.add(w, w[strings.Index(w, "=")+1:])
			for _, dir := range reach.Named { // the words mean files of that directory
				if !path.IsAbs(w) {
					n.add(dir + "/" + w)
				}
			}
		}
	}
	surely := len(n.all)
	for _, line := range lines {
		n.within(line, deepestQuotes)
		n.pieces(line)
	}
	return texts{words: n.all[:surely], parts: n.all[surely:], more: n.more}
}

// textList is such texts, each once.
type textList struct {
	all  []string
	seen map[string]bool
	more bool
}

func (n *textList) add(texts ...string) {
	for _, text := range texts {
		switch {
		case text == "" || n.seen[text]:
		case len(n.all) == mostWords:
			n.more = true
		default:
			n.all, n.seen[text] = append(n.all, text), true
		}
	}
}

// within adds the words of a line, and of the lines in their quotes, as a shell in a shell reads
// them.
func (n *textList) within(line string, depth int) {
	words, _ := split(line)
	for _, w := range words {
		n.add(w)
		switch {
		case n.more || w == line:
		case depth == 0:
			n.more = true
		default:
			n.within(w, depth-1)
		}
	}
}

// pieces adds what stands between signs, whatever the signs mean: HEAD:secret, -Fa=@secret, open('a b').
func (n *textList) pieces(line string) {
	line = strings.NewReplacer("${HOME}", "~", "$HOME", "~").Replace(line)
	for _, quote := range []string{`'`, `"`} {
		n.add(strings.Split(line, quote)...)
	}
	for piece := range strings.FieldsFuncSeq(line, sign) {
		n.add(piece)
		if len(piece) > 2 && piece[0] == '-' {
			n.add(piece[2:]) // -fsecret
		}
	}
}

// sign reports whether a character may end or begin a path in a line of a shell or a program.
func sign(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"'`\\;&|<>()[]{}$=:,@#!?*^%+", r)
}
