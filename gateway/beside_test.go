package gateway_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var askedAs = regexp.MustCompile(`"tool-input-available","toolCallId":"(permission-[^"]+)"`)

// An option or an input beside an answer belongs to the one request that waits, also if the
// message holds older answers: the client posts those every time.
func TestWhatIsSentBesideAnAnswer(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	_, _, body := s.do("POST", "/api/chat?client=5", submit("c1", "u1", "twice"))
	var message string
	var parts []string
	for i, beside := range []string{"", `,"updated_input":{"command":"echo edited"},"option":"always"`} {
		asked := askedAs.FindStringSubmatch(body)
		if asked == nil {
			t.Fatalf("nothing is asked: %s", body)
		}
		if i == 0 {
			message = regexp.MustCompile(`"messageId":"([^"]+)"`).FindStringSubmatch(body)[1]
		}
		parts = append(parts, fmt.Sprintf(`{"type":"tool-AskPermission","toolCallId":%q,"state":"output-available","input":{},"output":true}`, asked[1]))
		_, _, body = s.do("POST", "/api/chat?client=5", fmt.Sprintf(
			`{"id":"c1","trigger":"submit-message","messageId":%q,"messages":[{"id":%q,"role":"assistant","parts":[%s]}]%s}`,
			message, message, strings.Join(parts, ","), beside))
	}
	_, _, body = s.do("GET", "/api/sessions/c1/trace", "")
	if n := strings.Count(body, `"updated_input":{"command":"echo edited"}`); n != 1 || strings.Count(body, `"chosen_option":"always"`) != 1 {
		t.Errorf("the edited input and the option were not taken: %s", body)
	}
}
