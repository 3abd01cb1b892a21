package quote_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/quote"
)

func TestJSONError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`: "it is no JSON at byte 1: unexpected end of JSON input", `[]`: "the whole is a list, and an object belongs there",
		`{"name":5}`: "its name is a number, and a text belongs there", `{"n":"x"}`: "its n is a text, and a number belongs there",
		`{"n":1.5}`: "its n is a number 1.5, and another number belongs there", `{"list":[{"on":"yes"}]}`: "its list.on is a text, and true or false belongs there",
		`{"at":"noon"}`: `"noon" is no time in the form 2026-03-04T05:06:07Z`,
		`{"list":true}`: "its list is true or false, and a list belongs there",
	} {
		var v struct {
			Name string    `json:"name"`
			N    int       `json:"n"`
			At   time.Time `json:"at"`
			List []struct {
				On bool `json:"on"`
			} `json:"list"`
		}
		if err := quote.JSONError(json.Unmarshal([]byte(text), &v)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
	if other := errors.New("x"); !errors.Is(quote.JSONError(other), other) {
		t.Error("another error is changed")
	}
}
