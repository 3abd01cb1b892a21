package cli

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// This file makes one sentence of a mistake in a command line.

// plainly turns an error of the command line parser into a sentence that says what to write.
func plainly(model *kong.Application, err error) string {
	text := err.Error()
	for _, form := range []struct {
		pattern  string
		sentence func(part []string) string
	}{
		{`^(--[\w-]+): expected \w+ value but got (?:"EOL"|"--)`, func(part []string) string {
			return fmt.Sprintf("%s has no value: write %s", part[1], withValue(model, part[1]))
		}},
		{`^missing flags: (--[\w-]+)=`, func(part []string) string {
			return fmt.Sprintf("%s is missing: write %s", part[1], withValue(model, part[1]))
		}},
		{`^expected "<([\w-]+)>`, func(part []string) string {
			hint := ""
			if part[1] == "prompt" || part[1] == "file" {
				hint = ", in quotation marks if it has spaces, or - for standard input"
			}
			return fmt.Sprintf("the %s is missing: write it at the end%s", part[1], hint)
		}},
		{`^expected (?:one of )?("[\w-]+"(?:, "[\w-]+")*)$`, func(part []string) string {
			return "the command is not complete: write " + either(part[1]) + " behind it"
		}},
		{`^(--[\w-]+): .*\b(int|duration)\b.* but got ("[^"]*")`, func(part []string) string {
			example := map[string]string{"int": "a whole number", "duration": "a time such as 720h"}[part[2]]
			return fmt.Sprintf("%s is %s: write %s", part[1], part[3], example)
		}},
		{`^(--[\w-]+): bool value`, func(part []string) string { return part[1] + " takes no value: write it alone, or leave it out" }},
		{`^<([\w-]+)> must be one of (.*) but got (".*")$`, func(part []string) string {
			return fmt.Sprintf("the %s is %s: write %s", part[1], part[3], either(part[2]))
		}},
	} {
		if part := regexp.MustCompile(form.pattern).FindStringSubmatch(text); part != nil {
			return form.sentence(part)
		}
	}
	return text
}

// either joins quoted words as a sentence does.
func either(quoted string) string {
	words := strings.FieldsFunc(strings.ReplaceAll(quoted, `"`, ""), func(r rune) bool { return r == ',' || r == ' ' })
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// withValue is a flag with a name for its value.
func withValue(model *kong.Application, flag string) string {
	example := "VALUE"
	_ = kong.Visit(model, func(n kong.Visitable, next kong.Next) error {
		if f, is := n.(*kong.Flag); is && "--"+f.Name == flag && f.PlaceHolder != "" {
			example = f.PlaceHolder
		}
		return next(nil)
	})
	return flag + " " + example
}

// refuseEmpty refuses empty values. A script whose variable is not set would else work on
// the default configuration, data directory or database.
func refuseEmpty(line *kong.Context) error {
	for _, part := range line.Path {
		switch {
		case part.Flag != nil && empty(part.Flag.Target):
			return fmt.Errorf("--%s is empty: write --%s %s, or leave it out", part.Flag.Name, part.Flag.Name, part.Flag.FormatPlaceHolder())
		case part.Positional != nil && empty(part.Positional.Target):
			return fmt.Errorf("the %s is empty: write it at the end", part.Positional.Name)
		}
	}
	return nil
}

func empty(v reflect.Value) bool { return v.Kind() == reflect.String && v.String() == "" }
