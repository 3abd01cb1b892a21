//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Limits of what is kept of a catalogue: the lists of commands, skills and the
// like that a process sends at its start.
const (
	keepEntries = 2
	keepRunes   = 80
)

func catalogue(key string) bool {
	switch key {
	case "commands", "agents", "models", "slash_commands", "skills", "plugins":
		return true
	}
	return false
}

// cut shortens the catalogues of the lines that carry them and returns all
// other lines as they are. The order of fields stays.
func cut(line []byte) ([]byte, error) {
	if len(line) == 0 || line[0] != '{' {
		return line, nil
	}
	var m struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, err
	}
	if m.Type != "control_response" && (m.Type != "system" || m.Subtype != "init") {
		return line, nil
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var out bytes.Buffer
	if err := copyValue(&out, d, "", false); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// copyValue copies the next value; in says that it lies in a catalogue.
func copyValue(out *bytes.Buffer, d *json.Decoder, key string, in bool) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return copyObject(out, d, in)
		}
		return copyArray(out, d, catalogue(key), in)
	case string:
		if r := []rune(t); in && utf8.RuneCountInString(t) > 2*keepRunes {
			t = string(r[:keepRunes]) + "…<cut by the recorder>"
		}
		return write(out, t)
	}
	return write(out, t)
}

func copyObject(out *bytes.Buffer, d *json.Decoder, in bool) error {
	out.WriteByte('{')
	for first := true; d.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if err := write(out, key); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := copyValue(out, d, key, in); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	_, err := d.Token()
	return err
}

func copyArray(out *bytes.Buffer, d *json.Decoder, limited, in bool) error {
	out.WriteByte('[')
	n := 0
	for ; d.More(); n++ {
		kept := out.Len()
		if n > 0 {
			out.WriteByte(',')
		}
		if err := copyValue(out, d, "", in || limited); err != nil {
			return err
		}
		if limited && n >= keepEntries {
			out.Truncate(kept)
		}
	}
	if limited && n > keepEntries {
		out.WriteByte(',')
		if err := write(out, fmt.Sprintf("<%d more cut by the recorder>", n-keepEntries)); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	_, err := d.Token()
	return err
}

func write(out *bytes.Buffer, v any) error {
	raw, err := encode(v)
	out.Write(raw)
	return err
}
