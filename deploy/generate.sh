#!/usr/bin/env bash
# Makes the files that releases hold beside the program: completion scripts, the manual
# page, and the list of the page's packages. They come from the program and the lock file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
to=bin/package
rm -rf "$to"
mkdir -p "$to"
go build -o "$to/tributary" ./cmd/tributary
for shell in bash zsh fish; do "$to/tributary" completion "$shell" >"$to/tributary.$shell"; done
"$to/tributary" man >"$to/tributary.1"
gzip -9nk "$to/tributary.1"
rm "$to/tributary"
npm --prefix web sbom --package-lock-only --omit=dev --sbom-format=cyclonedx >"$to/page.cdx.json"
