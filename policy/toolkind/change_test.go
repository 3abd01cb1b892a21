package toolkind_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/policy/toolkind"
)

func TestTheChangeThatAnInputStates(t *testing.T) {
	const file = "one two one"
	for input, want := range map[string]string{
		`{"path":"a","content":"new"}`:                              "new",
		`{"path":"a","content":""}`:                                 "",
		`{"old_string":"one","new_string":"1"}`:                     "1 two one",
		`{"oldString":"one","newString":"1","replaceAll":true}`:     "1 two 1",
		`{"old_str":"one","new_str":"1","replace_all":false}`:       "1 two one",
		`{"old_str":"one","new_str":"1","Replace_all":true}`:        "1 two one",
		`{"oldText":"one ","newText":""}`:                           "two one",
		`{"oldText":"three","newText":"3"}`:                         "none",
		`{"old_string":"","new_string":"1"}`:                        "none", // an insertion
		`{"insert_line":1,"new_str":"1"}`:                           "none",
		`{"content":"new","text":"other"}`:                          "none",
		`{"content":"new","old_string":"one","new_string":"1"}`:     "none",
		`{"description":"new","instruction":"new","code_edit":"1"}`: "none",
		`{"content":["new"]}`:                                       "none",
		`{"edits":[{"old_string":"one","new_string":"1"}]}`:         "none",
		`"new"`: "none",
		``:      "none",
	} {
		got := "none"
		if c, ok := toolkind.ChangeOf(json.RawMessage(input)); ok {
			if text, fits := c.Applied(file); fits {
				got = text
			}
		}
		if got != want {
			t.Errorf("%s makes the file %q, want %q", input, got, want)
		}
	}
}
