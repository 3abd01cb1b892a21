package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/memlog"
)

// scored is what the tests read of a score.
type scored struct {
	Turn, Case, Name, Verdict, Reason, By string

	Score     *float64
	MessageID string `json:"message_id"`
	At        time.Time
}

func (s stand) scores(id string) (all []scored) {
	s.t.Helper()
	status, _, body := s.do("GET", "/api/sessions/"+id+"/scores", "")
	var in struct{ Scores []scored }
	if err := json.Unmarshal([]byte(body), &in); err != nil || status != http.StatusOK || in.Scores == nil {
		s.t.Fatalf("%d %v %s", status, err, body)
	}
	return in.Scores
}

// turnsOf are the turns of a session's trace.
func (s stand) turnsOf(id string) (turns []string) {
	s.t.Helper()
	_, _, records := s.do("GET", "/api/sessions/"+id+"/trace", "")
	for _, found := range regexp.MustCompile(`"turn":"([^"]+)",[^\n]*"type":"prompt"`).FindAllStringSubmatch(records, -1) {
		turns = append(turns, found[1])
	}
	return turns
}

func TestScoresAreOnRecordAndReplaceEachOther(t *testing.T) {
	store := memlog.New()
	s := newStandOn(t, store, nil)
	stream := ""
	for _, user := range []string{"u1", "u2"} {
		_, _, stream = s.do("POST", "/api/chat", submit("heron", user, "hello"))
	}
	if got := s.scores("heron"); len(got) != 0 {
		t.Errorf("before any: %+v", got)
	}
	turns := s.turnsOf("heron")
	_, _, history := s.do("GET", "/api/sessions/heron/messages", "")
	record := func(scores string) {
		t.Helper()
		if status, _, body := s.do("POST", "/api/sessions/heron/scores", `{"scores":[`+scores+`]}`); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, body)
		}
	}
	record(fmt.Sprintf(`{"turn":%q,"name":"tests","verdict":"fail","by":"somebody else"},{"turn":%q,"name":"diff","verdict":"pass"},{"turn":%q,"case":"c","name":"tests","verdict":"unknown"}`, turns[1], turns[0], turns[1]))
	record(fmt.Sprintf(`{"turn":%q,"name":"tests","verdict":"pass","score":0.9,"reason":"9 of 10","evidence":["x"]}`, turns[1]))
	check := func(s stand) {
		t.Helper()
		got := s.scores("heron")
		if len(got) != 3 || got[0].Name != "diff" || got[0].Turn != turns[0] || got[1].Case != "c" || got[2].Name != "tests" {
			t.Fatalf("%+v", got)
		}
		last := got[2]
		if last.Verdict != "pass" || *last.Score != 0.9 || last.Reason != "9 of 10" || last.By != "ada" || last.At.IsZero() || !strings.Contains(stream, last.MessageID) || last.MessageID == got[0].MessageID || last.MessageID == "" {
			t.Errorf("%+v", last)
		}
	}
	check(s)
	if _, _, again := s.do("GET", "/api/sessions/heron/messages", ""); again != history {
		t.Errorf("the history has changed:\n%s\n%s", history, again)
	}
	_, _, records := s.do("GET", "/api/sessions/heron/trace", "")
	if n := strings.Count(records, `"name":"score"`); n != 4 {
		t.Errorf("%d records of scores: %s", n, records)
	}
	for format, want := range map[string]string{"atif": `"scores":[{"at":`, "otlp": `"evaluation tests"`} {
		_, _, all := s.do("GET", "/api/sessions/heron/export?format="+format, "")
		_, _, none := s.do("GET", "/api/sessions/heron/export?content=none&format="+format, "")
		if !strings.Contains(all, want) || !strings.Contains(all, "9 of 10") || !strings.Contains(none, want) || strings.Contains(none, "9 of 10") {
			t.Errorf("%s:\n%s\n%s", format, all, none)
		}
	}
	check(newStandOn(t, store, nil)) // another gateway, which has read nothing yet

	// The messages of a removed turn are gone, and its scores stay.
	if status, _, body := s.do("POST", "/api/chat", `{"id":"heron","trigger":"regenerate-message","messages":[{"id":"u2","role":"user","parts":[{"type":"text","text":"hello"}]}]}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if got := s.scores("heron"); len(got) != 3 || got[0].MessageID == "" || got[2].MessageID != "" {
		t.Errorf("after a regenerate: %+v", got)
	}
}

func TestScoresThatCannotBe(t *testing.T) {
	s := newStandWith(t)
	ada, vera := as("ada", "collaborator"), as("vera", "viewer")
	s.do("POST", "/api/chat", submit("heron", "u1", "hello"), ada...)
	queued := s.queued("busy", "ada", ada...)
	turn := s.turnsOf("heron")[0]
	good := fmt.Sprintf(`{"turn":%q,"name":"n","verdict":"pass"}`, turn)
	for _, c := range []struct {
		id, scores string
		who        []string
		status     int
		want       string
	}{
		{"heron", good, vera, 403, "Your role is viewer"},
		{"nowhere", good, ada, 404, "no such session"},
		{"heron", "", ada, 400, "`scores` must be a list of 1 to 100 scores"},
		{"heron", strings.Repeat(good+",", 100) + good, ada, 400, "1 to 100 scores"},
		{"heron", good + `,{"turn":"turn_x","name":"n","verdict":"pass"}`, ada, 400, "No turn \\\"turn_x\\\" of this session has ended"},
		{"busy", `{"turn":"` + queued + `","name":"n","verdict":"pass"}`, ada, 400, "has ended"},
		{"heron", good + `,` + strings.Replace(good, "pass", "great", 1), ada, 400, "Score 2: `verdict` must be pass, fail or unknown."},
		{"heron", `{"turn":"` + turn + `","name":"n","verdict":"pass","colour":"red"}`, ada, 400, "`colour` is not a key here"},
	} {
		status, _, body := s.do("POST", "/api/sessions/"+c.id+"/scores", `{"scores":[`+c.scores+`]}`, c.who...)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%.80s: %d %s, want %d %s", c.scores, status, body, c.status, c.want)
		}
	}
	if status, _, body := s.do("GET", "/api/sessions/heron/scores", "", vera...); status != 200 || body != "{\"scores\":[]}\n" {
		t.Errorf("%d %s", status, body)
	}
}
