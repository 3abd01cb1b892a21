package agentkit_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

func TestAnAttachmentIsTextWhereItIsOneAndNamedWhereItIsNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		part          trace.InputPart
		text          string
		image, inline bool
	}{
		{trace.InputPart{URL: "data:text/plain,some%20notes", Filename: "n.txt"}, "Attached file n.txt:\n\nsome notes", false, true},
		{trace.InputPart{URL: "data:text/plain;charset=utf-8;base64,aGk=", Filename: "n.txt"}, "Attached file n.txt:\n\nhi", false, true},
		{trace.InputPart{URL: "data:text/plain;base64,//8="}, "Attached file (no name):\n\n\uFFFD", false, true},
		{trace.InputPart{URL: "data:;base64,aGk=", MediaType: "application/json"}, "Attached file (no name):\n\nhi", false, true},
		{trace.InputPart{URL: "data:image/png;base64,aGk=", Filename: "a.png"}, "[The user attached the file a.png of type image/png, which cannot be passed on.]", true, true},
		{trace.InputPart{URL: "data:text/plain;base64,***"}, "[The user attached the file (no name) of type text/plain, which cannot be passed on.]", false, false},
		{trace.InputPart{URL: "data:text/plain"}, "[The user attached the file (no name) of type unknown, which cannot be passed on.]", false, false},
		{trace.InputPart{URL: "https://example.com/a.png", MediaType: "image/png"}, "[The user attached the file (no name): https://example.com/a.png]", true, false},
		{trace.InputPart{URL: "file:///etc/passwd", MediaType: "text/plain"}, "[The user attached the file (no name) of type text/plain, which cannot be passed on.]", false, false},
		{trace.InputPart{URL: "data:application/octet-stream;base64,cHJpbnQoMSkK", Filename: "a.py"}, "Attached file a.py:\n\nprint(1)\n", false, true},
		{trace.InputPart{URL: "data:;base64,aGVsbG8=", Filename: "notes"}, "Attached file notes:\n\nhello", false, true},
		{trace.InputPart{URL: "data:application/x-sh,ls", Filename: "a.sh"}, "Attached file a.sh:\n\nls", false, true},
		{trace.InputPart{URL: "data:application/octet-stream,hello", Filename: "A.PDF"}, "[The user attached the file A.PDF of type application/pdf, which cannot be passed on.]", false, true},
		{trace.InputPart{URL: "data:;base64,aGk=", Filename: "a.png"}, "[The user attached the file a.png of type image/png, which cannot be passed on.]", true, true},
		{trace.InputPart{URL: "data:application/octet-stream;base64,AAEC", Filename: "a.py"}, "[The user attached the file a.py of type application/octet-stream, which cannot be passed on.]", false, true},
		{trace.InputPart{URL: "data:application/pdf,%25PDF-1.4", Filename: "a.pdf"}, "[The user attached the file a.pdf of type application/pdf, which cannot be passed on.]", false, true},
		{trace.InputPart{URL: "data:text/plain;base64,//5oAOQA", Filename: "w.txt"}, "Attached file w.txt:\n\nhä", false, true},
		{trace.InputPart{URL: "data:application/octet-stream;base64,/v8AaADk", Filename: "w.ini"}, "Attached file w.ini:\n\nhä", false, true},
		{
			trace.InputPart{URL: "data:application/octet-stream;base64,UEsDBA==", MediaType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", Filename: "a.docx"},
			"[The user attached the file a.docx of type application/vnd.openxmlformats-officedocument.wordprocessingml.document, which cannot be passed on.]", false, true,
		},
		{trace.InputPart{URL: "data:text/plain;base64,77u/aGk=", Filename: "b.txt"}, "Attached file b.txt:\n\nhi", false, true},
		{trace.InputPart{URL: "data:application/ld+json,{}", Filename: "n.json"}, "Attached file n.json:\n\n{}", false, true},
	} {
		a := agentkit.Attached(c.part)
		if a.Text() != c.text || a.IsImage() != c.image || a.Inline != c.inline {
			t.Errorf("%s: the text is %q, image %v, inline %v", c.part.URL, a.Text(), a.IsImage(), a.Inline)
		}
	}
}
