package cmdline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
)

type common struct {
	Place string `placeholder:"DIR" short:"p" help:"Where."`
}

type sail struct {
	common

	Crew   int            `placeholder:"N" default:"7"`
	Drop   float64        `placeholder:"RATE" default:"0.5"`
	Fast   bool           `help:"Hoist everything."`
	Within *time.Duration `placeholder:"TIME"`
	Note   *string        `placeholder:"TEXT"`
	Stop   []string       `placeholder:"PORT"`
	Line   []string       `sep:"none" placeholder:"TEXT"`
	To     string         `arg:""`
	Via    []string       `arg:"" optional:""`
}

type fleet struct {
	Sail sail `cmd:""`
	Crew struct {
		List struct {
			common

			JSON bool
		} `cmd:"" default:"withargs"`
		Pay struct {
			Coin string   `arg:"" enum:"gold,silver"`
			Men  []string `arg:""`
		} `cmd:""`
		Flog struct{} `cmd:"" hidden:""`
	} `cmd:""`
}

func TestParse(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	hours := 3 * time.Hour
	for words, want := range map[string]struct {
		path  string
		set   func(*fleet)
		help  bool
		fault string
	}{
		"sail a":                     {path: "fleet sail", set: func(f *fleet) { f.Sail.To = "a" }},
		"sail a b -- -c --":          {path: "fleet sail", set: func(f *fleet) { f.Sail.To, f.Sail.Via = "a", []string{"b", "-c", "--"} }},
		"-- sail -":                  {path: "fleet sail", set: func(f *fleet) { f.Sail.To = "-" }},
		"sail --place=x a --place y": {path: "fleet sail", set: func(f *fleet) { f.Sail.Place, f.Sail.To = "y", "a" }},
		"sail -p x a":                {path: "fleet sail", set: func(f *fleet) { f.Sail.Place, f.Sail.To = "x", "a" }},
		"sail -px=y a":               {path: "fleet sail", set: func(f *fleet) { f.Sail.Place, f.Sail.To = "x=y", "a" }},
		"sail -p=x a":                {path: "fleet sail", set: func(f *fleet) { f.Sail.Place, f.Sail.To = "x", "a" }},
		"sail --place - --crew -3 --drop=-1e3 --fast --within 3h --note= a": {path: "fleet sail", set: func(f *fleet) {
			f.Sail = sail{common: common{"-"}, Crew: -3, Drop: -1000, Fast: true, Within: &hours, Note: text(""), To: "a"}
		}},
		"sail --fast=yes --fast=no a": {path: "fleet sail", set: func(f *fleet) { f.Sail.To = "a" }},
		"sail --stop a,b --stop c --line d,e --line=f=g h": {path: "fleet sail", set: func(f *fleet) {
			f.Sail.Stop, f.Sail.Line, f.Sail.To = []string{"a", "b", "c"}, []string{"d,e", "f=g"}, "h"
		}},
		"crew":                 {path: "fleet crew list"},
		"crew --json":          {path: "fleet crew list", set: func(f *fleet) { f.Crew.List.JSON = true }},
		"crew pay gold a b":    {path: "fleet crew pay", set: func(f *fleet) { f.Crew.Pay.Coin, f.Crew.Pay.Men = "gold", []string{"a", "b"} }},
		"crew flog":            {path: "fleet crew flog"},
		"sail --help":          {path: "fleet sail", help: true},
		"-h crew":              {path: "fleet crew", help: true},
		"crew pay tin":         {fault: `the coin is "tin": write gold or silver`},
		"crew pay gold":        {fault: "the men is missing: write it at the end"},
		"crew flgo":            {fault: "unexpected argument flgo"}, // a hidden command is not told
		"crew lsit":            {fault: `unexpected argument lsit, did you mean "list"?`},
		"":                     {fault: "the command is not complete: write sail or crew behind it"},
		"sail":                 {fault: "the to is missing: write it at the end"},
		"sail --help --x":      {fault: "unknown flag --x"},
		"sail a --flast":       {fault: `unknown flag --flast, did you mean "--fast"?`},
		"sail a -é":            {fault: "unknown flag -é"},
		"sail a --crew 3x":     {fault: `--crew is "3x": write a whole number`},
		"sail a --crew=":       {fault: `--crew is "": write a whole number`},
		"sail a --drop x":      {fault: `--drop is "x": write a number such as 0.05`},
		"sail a --within 3":    {fault: `--within is "3": write a time such as 720h`},
		"sail a --fast=x":      {fault: "--fast takes no value: write it alone, or leave it out"},
		"sail --place --":      {fault: "--place has no value: write --place DIR"},
		"sail -p":              {fault: "--place has no value: write --place DIR"},
		"sail --place -x a":    {fault: "--place has no value: write --place DIR"},
		"sail --place= a":      {fault: "--place is empty: write --place DIR, or leave it out"},
		"crew list a":          {fault: "unexpected argument a"},
		"crew -p a --json pay": {fault: "the flags are those of list: write pay before its flags"},
		"crew --place a x":     {fault: "unexpected argument x"},
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			var got, expected fleet
			c := cmdline.New("fleet", "Ships.", &got)
			cmdline.New("fleet", "", &expected) // the defaults
			named, help, err := c.Parse(strings.Fields(words))
			if want.fault != "" {
				if err == nil || err.Error() != want.fault {
					t.Errorf("%v, and not %s", err, want.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want.set != nil {
				want.set(&expected)
			}
			if path := strings.Join(named.Path, " "); path != want.path || help != want.help {
				t.Errorf("%s, help %t", path, help)
			}
			if diff := cmp.Diff(expected, got, cmp.AllowUnexported(sail{}, fleet{}.Crew.List)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
