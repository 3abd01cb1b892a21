# syntax=docker/dockerfile:1
# The gateway, with the page in it. docs/deploy/docker.md shows how to run it, and how to add agents.

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=devel
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w -X github.com/tributary-dev/tributary/internal/cli.released=$VERSION" -o /out/tributary ./cmd/tributary

FROM debian:bookworm-slim
# Agents call their models by TLS, and work with git. Their versions are those of the base image's release.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --create-home --home-dir /home/tributary tributary \
 && install -d -o tributary -g tributary -m 0700 /var/lib/tributary \
 && install -d -o tributary -g tributary /workspace \
 && install -d /etc/tributary
COPY --from=build /out/tributary /usr/local/bin/tributary
USER 10001:10001
# The data directory is /var/lib/tributary.
ENV XDG_DATA_HOME=/var/lib
# The configuration, if there is one, is ./tributary.yaml here: agents cannot write it.
WORKDIR /etc/tributary
VOLUME ["/var/lib/tributary", "/workspace"]
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s CMD ["tributary", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tributary"]
CMD ["serve", "--listen", "0.0.0.0:8787", "--cwd", "/workspace"]
