#!/usr/bin/env bash
# Builds the release without publishing it: archives, the Debian package, SBOMs and
# checksums in bin/release, and the npm packages in bin/npm. GoReleaser and cyclonedx-gomod
# are built once, into the user's cache folder. With --publish, GoReleaser also makes the release of
# the current tag on GitHub, with the token in GITHUB_TOKEN; the npm packages stay in bin/npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

goreleaser=github.com/goreleaser/goreleaser/v2@v2.15.1
cyclonedx=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

tools=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tributary/release/$(echo "$goreleaser $cyclonedx" | cksum | cut -d ' ' -f 1)
for tool in "$goreleaser" "$cyclonedx"; do
  program=${tool%@*} program=${program%/v2}
  [ -x "$tools/${program##*/}" ] || GOFLAGS='' GOBIN=$tools go install "$tool"
done
PATH=$PATH:$tools

mode=--snapshot
if [ "${1:-}" = --publish ]; then mode='' && shift; fi
goreleaser release $mode --clean "$@"

version=$(node -p 'JSON.parse(fs.readFileSync("bin/release/metadata.json")).version')
rm -rf bin/npm
npm --prefix packages/chat ci --no-audit --no-fund
# shellcheck disable=SC2046 # one word a platform
node deploy/npm/pack.mjs --version "$version" --to bin/npm $(node -p '
  JSON.parse(fs.readFileSync("bin/release/artifacts.json")).filter((one) => one.type === "Binary").map((one) =>
    `${one.goos === "windows" ? "win32" : one.goos}-${one.goarch === "amd64" ? "x64" : one.goarch}=${one.path}`).join(" ")')
ls -l bin/release/SHA256SUMS bin/release/*.deb bin/npm
