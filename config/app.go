package config

import (
	"errors"
	"net/url"
)

// CheckApp returns an error of one sentence when the text is no URL of an app.
func CheckApp(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Path != "" && u.Path != "/" {
		return errors.New("is no URL of an app: write http://localhost:5173")
	}
	return nil
}
