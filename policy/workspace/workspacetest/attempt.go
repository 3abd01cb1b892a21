package workspacetest

import (
	"fmt"
	"strings"
)

// Attempts lists paths that lead out of the workspace of [Layout], which is at
// TOP/ws, or that name nothing. All of them must be refused.
func Attempts(top string) []string {
	ws := top + "/ws"
	long := strings.Repeat("x", 300)
	all := []string{
		// Nothing, and bytes that end a string for the kernel.
		"", "\x00", "a.txt\x00", "\x00a.txt", "a.txt\x00/../../outside/secret", ws + "/\x00", "sub/\x00/b.txt", "..\x00", "/\x00",
		// Above, as it is written.
		"..", "../", "../.", "./..", "../..", ".././..", "..//", "../outside/secret", "./../outside/secret", ".//..//outside/secret",
		"sub/../../outside/secret", "sub/deep/../../../outside/secret", "sub/./../../outside/secret", "sub//..//..//outside/secret",
		"../ws/a.txt", "../ws/../ws/a.txt", "..//outside/secret", "../outside", "../outside/dir/new", "../ws2/secret",
		"nothing/../../outside/secret", "a.txt/../../outside/secret",
		// Absolute.
		"/", "//", "/.", "/..", "/etc/passwd", "//etc/passwd", "///etc///passwd", "/etc/../etc/passwd", "/root/.ssh/id_rsa",
		top, top + "/", top + "/outside/secret", top + "/outside/../outside/secret", ws + "/../outside/secret", ws + "/../ws/a.txt",
		ws + "/..", ws + "/sub/../../outside/secret", ws + "2/secret", ws + "2", ws + "2/", ws[:len(ws)-1], ws + ".", ws + " ", ws + "\n/a.txt",
		"/" + ws[1:2] + "/../etc/passwd", strings.ToUpper(ws) + "/../outside/secret",
		// The kernel's own links and files.
		"/proc/self/root/etc/passwd", "/proc/self/cwd/x", "/proc/self/environ", "/proc/self/fd/0", "/proc/1/root/etc/passwd", "/proc/self/mem",
		"/dev/null", "/dev/zero", "/dev/stdin", "/dev/fd/0", "/dev/tcp/127.0.0.1/80", "/sys/kernel/notes", "/run/secrets/x",
		"root", "root/etc/passwd", "cwd", "cwd/x", "root/" + long, "fd", "fd/0", "environ",
		// Links.
		"out", "outdir", "outdir/", "outdir/.", "outdir/secret", "outdir/new", "outdir/new/deeper", "outdir/..", "outdir/../ws/a.txt", "outdir/dir",
		ws + "/out", ws + "/outdir/secret", "./out", "sub/../out", "sub/deep/../../out",
		"abs", "absdir", "absdir/b.txt", "absout", "goneout", "goneout/x", "sub/up", "sub/up/", "sub/up/outside/secret", "sub/up/ws/a.txt",
		"chain", "chain2", "chain3", "chain4", "chain5", "dirchain/secret", "dirchain/../x", "etc/passwd", "home", "dots/outside/secret", "dots",
		"device", "null", "zero",
		// Long.
		"../" + long, "outdir/" + long, strings.Repeat("../", 50) + "etc/passwd", strings.Repeat("../", 20000), strings.Repeat("./", 2000) + "../outside/secret",
		strings.Repeat("sub/../", 1000) + "../outside/secret", "/" + long, "/" + strings.Repeat("x/", 3000),
	}
	// Each of a few ways up, from each of a few places.
	for _, from := range []string{"", "./", "sub/", "sub/deep/", ws + "/", "indir/", "nothing/"} {
		depth := strings.Count(strings.TrimPrefix(strings.TrimPrefix(from, ws), "/"), "/") - strings.Count(from, "./")
		for _, to := range []string{"outside/secret", "ws2/secret", "outside/dir/new", ""} {
			all = append(all, from+strings.Repeat("../", depth+1)+to, from+strings.Repeat(".././", depth+2)+to)
		}
	}
	return all
}

// Literals lists paths that look like an escape to a program which expands, decodes
// or normalises names, and that are plain names for the file system. Operations on
// them stay in the workspace.
func Literals() []string {
	all := []string{
		"~", "~root", "~/x", "$HOME", "${HOME}/x", "%2e%2e", "%2e%2e%2foutside", "..%2foutside%2fsecret", "..%c0%afoutside", "%00",
		`..\outside\secret`, `..\..\x`, `C:\x`, `C:x`, `\\host\share`, `\etc\passwd`, "file:", "...", "....", ".. ", " ..", "..x", "x..", ". .",
		"\u2025", "\u2024\u2024", "\uff0e\uff0e\uff0foutside\uff0fsecret", "..\u2044outside\u2044secret", "..\u2215outside", "\uff0e\uff0e",
		"\u202e..", "..\u200b", "\u200b..", "\ufeff..", "e\u0301", "\u00e9", "\u212b", "A\u030a", "\u00c5", "\xff\xfe", "..\xc0\xaf", "\xc0\xae\xc0\xae",
		"a*", "[a]", "{a,b}", "`id`", "$(id)", "a;b", "a|b", "a&b", "a>b", "-rf", "--", "'", `"`, "\t", "\n", "\r\n", "\x7f", "\x1b[31m", " ", "A.TXT", "a.txt.", "a.txt ", "CON", "a.txt::$DATA",
	}
	for i := range 8 {
		all = append(all, fmt.Sprintf("%c%c%c", 0x2e, 0x2e, rune(0x2028+i)))
	}
	return all
}
