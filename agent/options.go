package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// DecodeOptions decodes Config.Options into a struct of the adapter. An unknown key
// is an error, so that a misspelt setting is reported.
func DecodeOptions(options json.RawMessage, into any) error {
	if len(options) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(options))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("read the agent's options: %w", err)
	}
	return nil
}
