package cli

import (
	"strings"
	"testing"
)

func TestAMistakeInTheCommandLineIsOneSentence(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"config":                            "the command is not complete: write check behind it",
		"config check extra":                "unexpected argument extra",
		"config check --config":             "--config has no value: write --config FILE",
		"config check --config=":            "--config is empty: write --config FILE, or leave it out",
		"serve --config --data x":           "--config has no value: write --config FILE",
		"sessions":                          "the command is not complete: write list, show or delete behind it",
		"sessions list --limit all":         `--limit is "all": write a whole number`,
		"sessions list --limit -1":          "--limit -1 is out of range: write 1 to 999",
		"sessions list --limit 1.5":         `--limit is "1.5": write a whole number`,
		"sessions list --limit":             "--limit has no value: write --limit N",
		"sessions list --limit=0":           "--limit 0 is out of range: write 1 to 999",
		"sessions list --json=maybe":        "--json takes no value: write it alone, or leave it out",
		"sessions show EMPTY":               "the session is empty: write it at the end",
		"sessions delete":                   "the session is missing: write it at the end",
		"sessions export a --token-file=":   "--token-file is empty: write --token-file FILE, or leave it out",
		"chat --session=":                   "--session is empty: write --session SESSION, or leave it out",
		"chat --agent":                      "--agent has no value: write --agent NAME",
		"chat hello":                        "unexpected argument hello",
		"logs":                              "the session is missing: write it at the end",
		"logs EMPTY":                        "the session is empty: write it at the end",
		"logs a b":                          "unexpected argument b",
		"health --url=":                     "--url is empty: write --url URL, or leave it out",
		"health --url ftp://a":              `--url: "ftp://a" is no address of a server: write one such as`,
		"token create EMPTY":                "the name is empty: write it at the end",
		"token create a --data=":            "--data is empty: write --data DIR, or leave it out",
		"token create a --expires tomorrow": `--expires is "tomorrow": write a time such as 720h`,
		"token create a --expires 5":        `--expires is "5": write a time such as 720h`,
		"token create a --expires 0":        "--expires is 0s: write a time such as 720h",
		"token create a --role=":            "--role is empty: write --role ROLE, or leave it out",
		"token revoke EMPTY":                "the name is empty: write it at the end",
		"signins revoke EMPTY":              "the id is empty: write it at the end",
		"signins end a":                     "unexpected argument end",
		"convert a":                         "--from is missing: write --from ADAPTER",
		"convert --from claude EMPTY":       "the file is empty: write it at the end",
		"run":                               "the prompt is missing: write it at the end, in quotation marks if it has spaces, or - for standard input",
		"completion tcsh":                   `the shell is "tcsh": write bash, zsh or fish`,
		"completion":                        "the shell is missing: write it at the end",
		"serve --listen here":               `--listen is "here": write host:port, such as 127.0.0.1:8787`,
		"nonsense":                          "unexpected argument nonsense",
		"--nonsense":                        "unknown flag --nonsense",
		"eval":                              "the command is not complete: write run, init, check, grade, compare or report behind it",
		"export a --format x":               `--format is "x": write trace, markdown, json, atif, otlp or otlp-protobuf`,
		"eval compare a b --max-drop x":     `--max-drop is "x": write a number`,
		"sevre":                             `unexpected argument sevre, did you mean "serve"? (`,
		"token lsit":                        `unexpected argument lsit, did you mean "list"? (`,
		"serve -config x":                   `unknown flag -config, did you mean "--config"? (`,
		"serve --help --lisen=x":            `unknown flag --lisen, did you mean "--listen"? (`,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(args)
			for i := range words {
				words[i] = strings.Replace(words[i], "EMPTY", "", 1)
			}
			r := command(t, "", words...)
			r.want(t, exitUsage, want)
			if strings.Count(r.errors, "\n") != 1 || r.out != "" {
				t.Errorf("more than a sentence: %s%s", r.out, r.errors)
			}
		})
	}
}
