package uistream

import "testing"

// FuzzParseProfile reads what requests say of their client.
func FuzzParseProfile(f *testing.F) {
	for _, s := range []string{"", "5", "6", "7", "7.0.173", "6.0.0", "4", "8", "7.0", "7.x", "07", "7.0.99999999999", "-7", "7.0.0 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseProfile(s)
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("the error repeats %d bytes", len(err.Error()))
			}
			return
		}
		again, err := ParseProfile(p.String())
		if err != nil || again != p {
			t.Errorf("%q is %+v, whose text %q is read as %+v, %v", s, p, p.String(), again, err)
		}
		// A client that names only its major gets only chunks that the oldest release of that major knows.
		for _, typ := range []string{"text-delta", "finish", "error", "start"} {
			if !p.knows(typ, "") {
				t.Errorf("%q does not know %s", s, typ)
			}
		}
	})
}
