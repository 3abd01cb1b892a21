package openai

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// system is the system prompt.
func (m *model) system() string {
	if m.System != "" {
		return m.System
	}
	return "You are a helpful agent in the directory " + m.cfg.Cwd + " of the user's machine. " +
		"Use your tools to look at files, to change them and to run commands; paths are relative to that directory. " +
		"A tool call that was denied must not be tried again in another way: ask the user instead. " +
		"Be brief, and say what you did."
}

// lastPrompt is where the running turn begins.
func lastPrompt(messages []toolloop.Message) int {
	for i, x := range slices.Backward(messages) {
		if x.Role == trace.RoleUser {
			return i
		}
	}
	return -1
}

// form is how a part of a prompt is sent.
type form int

const (
	formText form = iota
	formImage
	formFile
)

// formOf sorts a part, and returns the text of those that are sent as text.
func formOf(p trace.InputPart) (form, string) {
	data, isData := decodeData(p.URL)
	name := p.Filename
	if name == "" {
		name = "file"
	}
	switch {
	case p.Type == trace.InputText:
		return formText, p.Text
	case strings.HasPrefix(p.MediaType, "image/") && (isData || isWeb(p.URL)):
		return formImage, ""
	case isData && isText(p.MediaType):
		return formText, "<file name=\"" + name + "\">\n" + string(data) + "\n</file>"
	case isData:
		return formFile, name
	case isWeb(p.URL):
		return formText, "[attached: " + name + ", " + p.URL + "]"
	default: // an address on this machine is nobody's to hand out
		return formText, "[attached: " + name + ", which cannot be read]"
	}
}

func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func isText(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "json") || strings.HasSuffix(mediaType, "xml")
}

func decodeData(address string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	head, body, comma := strings.Cut(rest, ",")
	if !ok || !comma {
		return nil, false
	}
	if strings.HasSuffix(head, ";base64") {
		data, err := base64.StdEncoding.DecodeString(body)
		return data, err == nil
	}
	text, err := url.PathUnescape(body)
	return []byte(text), err == nil
}

// chatPrompt is a user's message. Words alone are sent as one text, because some servers
// know no parts.
func chatPrompt(parts []trace.InputPart) sdk.ChatCompletionMessageParamUnion {
	var all []sdk.ChatCompletionContentPartUnionParam
	var texts []string
	for _, p := range parts {
		switch f, text := formOf(p); f {
		case formImage:
			all = append(all, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: p.URL}))
		case formFile:
			all = append(all, sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{Filename: sdk.String(text), FileData: sdk.String(p.URL)}))
		case formText:
			all, texts = append(all, sdk.TextContentPart(text)), append(texts, text)
		}
	}
	if len(texts) == len(all) {
		return sdk.UserMessage(strings.Join(texts, "\n\n"))
	}
	return sdk.UserMessage(all)
}

func responseParts(parts []trace.InputPart) responses.ResponseInputMessageContentListParam {
	all := responses.ResponseInputMessageContentListParam{}
	for _, p := range parts {
		switch f, text := formOf(p); f {
		case formImage:
			all = append(all, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{Detail: responses.ResponseInputImageDetailAuto, ImageURL: sdk.String(p.URL)}})
		case formFile:
			all = append(all, responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{Filename: sdk.String(text), FileData: sdk.String(p.URL)}})
		case formText:
			all = append(all, responses.ResponseInputContentParamOfInputText(text))
		}
	}
	return all
}
