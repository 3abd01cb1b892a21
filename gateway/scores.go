package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the routes for what graders found in the turns of a session.

// scores lists the newest score of each turn, case and grader.
func (g *gateway) scores(w http.ResponseWriter, r *http.Request) error {
	r, b, err := g.page(r)
	if err != nil {
		return err
	}
	defer b.Waits()
	scores, err := g.Hub.Scores(r.Context(), r.PathValue("id"))
	return writeResult(w, map[string]any{"scores": scores}, err)
}

// score puts scores on record.
func (g *gateway) score(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Scores []trace.Score `json:"scores"`
	}
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	for i := range body.Scores {
		body.Scores[i].By = caller(r)
	}
	return noContent(w, g.Hub.Score(r.Context(), r.PathValue("id"), body.Scores))
}
