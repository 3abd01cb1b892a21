package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

const (
	wrongAddress = "the address of the file "
	wrongMedia   = "the media type of the file "
	wrongName    = "the name of the file "
)

func file(address, media, name string) trace.InputPart {
	return trace.InputPart{Type: trace.InputFile, URL: address, MediaType: media, Filename: name}
}

// TestFilesThatAreMalformedAreRefused: an agent may obey what stands in an address, a media type
// or a name.
//
//evidence:for limit-file-fields
func TestFilesThatAreMalformedAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[trace.InputPart]string{
		file("https://e.example/a b", "text/plain", "a"):                    wrongAddress,
		file("https://e.example/a\u0085b", "text/plain", "a"):               wrongAddress,
		file("https://e.example/a\u00a0b", "text/plain", "a"):               wrongAddress,
		file("https://e.example/a\u2028b", "text/plain", "a"):               wrongAddress,
		file("https://e.example/a\u3000b", "text/plain", "a"):               wrongAddress,
		file("https://e.example/a\u200bb", "text/plain", "a"):               wrongAddress,
		file("https://e.example/a\u202eb", "text/plain", "a"):               wrongAddress,
		file("https://e.example/a\ufeffb", "text/plain", "a"):               wrongAddress,
		file("https://e.example/a\x00b", "text/plain", "a"):                 wrongAddress,
		file("https://e.example/a\x7fb", "text/plain", "a"):                 wrongAddress,
		file("https://e.example/a\tb", "text/plain", "a"):                   wrongAddress,
		file("x:y z", "text/plain", "a"):                                    wrongAddress,
		file(" https://e.example/", "text/plain", "a"):                      wrongAddress,
		file("data:text/plain,a b", "text/plain", "a"):                      wrongAddress,
		file("data:text/plain;base64,QQ==\n", "text/plain", "a"):            wrongAddress,
		file("https://e.example/", "text", "a"):                             wrongMedia,
		file("https://e.example/", "text/", "a"):                            wrongMedia,
		file("https://e.example/", "/plain", "a"):                           wrongMedia,
		file("https://e.example/", "text/plain/x", "a"):                     wrongMedia,
		file("https://e.example/", "text /plain", "a"):                      wrongMedia,
		file("https://e.example/", " text/plain", "a"):                      wrongMedia,
		file("https://e.example/", "text/plain @/etc/passwd", "a"):          wrongMedia,
		file("https://e.example/", "text/plain\n", "a"):                     wrongMedia,
		file("https://e.example/", "text/@etc", "a"):                        wrongMedia,
		file("https://e.example/", "text/pläin", "a"):                       wrongMedia,
		file("https://e.example/", "text/plain; x", "a"):                    wrongMedia,
		file("https://e.example/", "text/plain; x=a b", "a"):                wrongMedia,
		file("https://e.example/", `text/plain; x=" @/etc/passwd"`, "a"):    wrongMedia,
		file("https://e.example/", "text/plain; x=1; x=2", "a"):             wrongMedia,
		file("file:///etc/passwd", "a/b @/etc/passwd", "a"):                 wrongMedia,
		file("data:text;base64,QQ==", "text/plain", "a"):                    wrongMedia,
		file("data:application/@/etc/passwd;base64,QQ==", "", "a"):          wrongMedia,
		file("data:text/plain;x;base64,QQ==", "text/plain", "a"):            wrongMedia,
		file(`data:text/plain;x="@/etc/passwd";base64,QQ==`, "", "a"):       wrongMedia,
		file("data:@/etc/passwd,x", "text/plain", "a"):                      wrongMedia,
		file("https://e.example/", "text/plain", "a\nb"):                    wrongName,
		file("https://e.example/", "text/plain", "a\u0085b"):                wrongName,
		file("https://e.example/", "text/plain", "a\u2029b"):                wrongName,
		file("https://e.example/", "text/plain", "gpj.\u202egnp.exe"):       wrongName,
		file("https://e.example/", "text/plain", "a\u200bb"):                wrongName,
		file("https://e.example/", "text/plain", strings.Repeat("\x01", 9)): wrongName,

		file("https://e.example/ä?q=1#@x", "image/*", "my file (1), 日本.txt"):                         "",
		file("https://e.example/%20@x", "", ""):                                                      "",
		file("data:,x", "text/plain", "\U0001f468\u200d\U0001f469.png"):                              "",
		file("data:;base64,QQ==", "application/vnd.x+json; charset=utf-8", "a\u202fb.png"):           "",
		file("data:;charset=utf-8,x", `text/plain; charset="utf-8"`, "می\u200cخواهم"):                "",
		file("data:text/plain;charset=utf-8;base64,QQ==", "text/plain", "Screenshot 5.30\u202fPM.x"): "",
		file("x:y", "a/b", ""): "",
		file("", "", ""):       "",
	}
	for part, want := range cases {
		err := trace.CheckFiles([]trace.InputPart{{Type: trace.InputText, Text: "a b"}, part})
		var refused *trace.FileError
		switch {
		case want == "" && err != nil:
			t.Errorf("%+v: %v", part, err)
		case want != "" && (!errors.As(err, &refused) || !strings.HasPrefix(refused.Sentence, want) || len(refused.Sentence) > 500 || strings.ContainsAny(refused.Sentence, "\n\x01")):
			t.Errorf("%+v: %v, want %s", part, err, want)
		}
	}
}

// TestEveryWayInRefusesMalformedFiles: a prompt, one that runs a message again, and a message
// into the running turn.
//
//evidence:for limit-file-fields
func TestEveryWayInRefusesMalformedFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.say("s", "hello")
	bad := trace.UserMessage{ID: "u9", Parts: []trace.InputPart{file("https://e.example/ @/etc/passwd", "text/plain", "a")}}
	var refused *trace.FileError
	for _, p := range []session.Prompt{{Message: bad, By: "ada"}, {Message: bad, By: "ada", Regenerate: true}} {
		if _, err := b.Prompt(t.Context(), "s", p); !errors.As(err, &refused) {
			t.Errorf("a prompt: %v", err)
		}
	}
	if err := b.Steer(t.Context(), "s", session.Prompt{Message: bad, By: "ada"}); !errors.As(err, &refused) {
		t.Errorf("a message into a turn: %v", err)
	}
}
