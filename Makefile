# make help lists the targets.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # test/stages runs stages beside each other; within a target the order counts
MAKEFLAGS += --no-print-directory

GO ?= go
# Arguments for make run, make bench and make ways, such as ARGS="--listen 127.0.0.1:9000".
ARGS ?=
# How long make fuzz stays with each target.
FUZZTIME ?= 5s
# How many random cuts make cuts tries.
CUTS ?= 200

# Where git cannot or must not be asked, the binary does without its revision. One set of flags for
# all builds, also of the tests and the linter, so that each package is compiled once; the race
# detector alone needs cgo, and a build of its own. The compiler, which runs for moments, collects
# garbage less often: it takes an eighth less processor time, and makes the same files. Neither it nor
# the linker writes tables for debuggers: another eighth less. Stack traces and profiles need none.
# Tests and servers that run beside it go first.
NO_TABLES := -dwarf=false
export CGO_ENABLED ?= 0
export GOFLAGS := $(GOFLAGS) -trimpath -gcflags=all=$(NO_TABLES) '-toolexec=nice -n 10 env GOGC=400' -ldflags=-s -buildvcs=$(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)

LINT := $(GO) tool -modfile=tools/go.mod golangci-lint
# go test, with a line for each package and the number of tests at the end. The linter has the checks of go vet. Three
# packages at a time: half of the time that tests take they wait.
GO_TEST := $(GO) tool -modfile=tools/go.mod gotestsum --format pkgname --format-hide-empty-pkg --no-color -- -p 3 -timeout 20m -shuffle=on -vet=off
WITH_BINARY := TRIBUTARY_BINARY=$(CURDIR)/bin/tributary
# Packages with goroutines of their own. make test-wider runs them once more with the race detector,
# whose build of the program and slower tests take longer than all other Go tests. The longest first.
RACE := ./internal/cli ./eventlog/... ./session ./gateway ./access/... ./adapter/... ./agent/... ./eval/run ./export/live ./gateway/agentops ./gateway/authz ./gateway/chatrun ./gateway/cluster ./gateway/limit ./internal/httpjson ./internal/jsonrpc ./internal/procio ./internal/sse ./internal/wsconn ./policy/egress ./policy/workspace ./trace ./uistream
# Of these, test-race leaves out the tests that play recordings, and large or many messages that go the way of small ones:
# they have no goroutine that other tests of their package have not. make test runs them.
SAME_GOROUTINES := ^TestGolden$$|^TestOutputAlone$$|^TestTheStreamAlone$$|^TestTheModesAgree$$|^TestEveryRecording|^TestUglyTurns$$/^long_line$$|^TestMembersHaveABound$$|^TestAPromptMentionsNoFileOutsideInAnyField$$|^TestBadServers$$/^a_line_that_never_ends$$|^TestBadServers$$/.*/^a_line_that_never_ends$$
# The real clients by age, as lib/clients.mjs of test/conformance names them.
NEWEST_CLIENT := --client 7.0.173
OLDER_CLIENTS := --client 5 --client 6 --client 7.0.0
# $(call cases,NAME ...) has a real agent run these cases only, but all with make test-all: what an older client makes
# of the stream is tried with the demo agent.
cases = $(if $(TRIBUTARY_TEST_FULL),,$(1:%=--case %))
HAS_PYTHON := python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
GO_FILES := find . \( -name node_modules -o -name '.?*' \) -prune -o -name '*.go' -print

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: build ## Build and start the gateway with the demo agent; open the URL that it prints
	@exec bin/tributary serve --agent demo $(ARGS)

.PHONY: build
build: web binary ## Build bin/tributary with the page in it

.PHONY: binary
binary: need-go
	@echo "Building bin/tributary: the first time takes some minutes, later ones take seconds."
	@$(GO) build -v -o bin/tributary ./cmd/tributary 2>&1 | \
	  awk '/^[^ ]+$$/ { if (++n % 100 == 0) { print "  " n " packages"; fflush() } next } { print; fflush() }'

.PHONY: web
web: need-go ## Build the page, if its sources changed; commit web/dist then
	@echo "Looking whether the page in web/dist is that of its sources: the first time downloads and compiles what this needs."
	@found=$$($(GO) test -run ThePageIsBuiltFromItsSources ./web 2>&1) || { grep -q '^--- FAIL' <<<"$$found" || { echo "$$found" >&2; exit 1; }; $(MAKE) page; }

.PHONY: page
page: web/node_modules/.package-lock.json | need-go
	npm --prefix web run build
	cd web && $(GO) run compress.go

.PHONY: page-check
page-check: ## Build the page, and compare it with the one that is committed; not again for the same sources
	@if cmp -s web/built.sha256 bin/page-checked && $(GO) test -run ThePageIsBuiltFromItsSources ./web; then exit; fi; \
	  before=$$(cat web/built.sha256); $(MAKE) page && [ "$$before" = "$$(cat web/built.sha256)" ] || \
	  { echo "web/dist was not the page that its sources build: commit what make web has built." >&2; exit 1; }; \
	  mkdir -p bin && cp web/built.sha256 bin/page-checked

web/node_modules/.package-lock.json: web/package-lock.json | need-node
	npm --prefix web ci --no-audit --no-fund
	@touch $@

test/conformance/node_modules/.package-lock.json: test/conformance/package-lock.json | need-node
	npm --prefix test/conformance ci --no-audit --no-fund
	@touch $@

# The stages of a run, in the order in which they begin. Two run at a time; "stage:other" waits until another stage has passed, and
# "stage:other?" until it has ended: the Go compiler reads web/dist, which page-check writes, and no two stages install into one
# folder. page-test and test-go use all of the machine, and some of their tests bound a time, so they do not run side by side.
STAGES := page-check install-clients install-agents:install-clients binary:page-check page-test:install-clients,binary lint:page-check \
  test-go:install-agents,page-test? js-lint:page-check,install-clients conformance-newest:install-agents,binary conformance-once:install-clients,binary \
  js-test:page-check,install-clients cuts:install-clients,binary chat-package:install-clients fmt-check
# e2e-postgres measures a time, so it does not run beside first-use, which floods the machine.
WIDER_STAGES := e2e-postgres test-race first-use:e2e-postgres? conformance-claude conformance-selftest conformance-others endurance-quick \
  conformance-remote conformance-codex outside foreign conformance-postgres workflow agents-strict conformance-agentops agent-acp npm-test
ALL_STAGES := restarts page-measure mutations endurance fuzz test-agents conformance-postgres-all e2e-postgres-all eval cuts-all readers

.PHONY: test
test: need-go need-node ## Before a change is merged: formatting, lint, tests, real clients and agents (some ten minutes on two cores, more the first time)
	@$(GO) run ./test/stages $(STAGES)

.PHONY: test-wider
test-wider: need-cc need-node ## What .ci/run runs beside make test: the race detector, PostgreSQL, all pairs of cases and clients, recordings, fresh apps, packages
	@$(GO) run ./test/stages $(WIDER_STAGES)

.PHONY: test-all
test-all: export TRIBUTARY_TEST_FULL = 1 # for make test and make test-wider too
test-all: test test-wider ## Everything, also what takes hours: before a release, and after a change of an adapter that make test does not run
	@$(GO) run ./test/stages $(ALL_STAGES)

.PHONY: install
install: install-clients install-agents ## Install what make test needs, except for the page

.PHONY: install-clients
install-clients: test/conformance/node_modules/.package-lock.json packages/chat/node_modules/.package-lock.json packages/chat/generate/node_modules/.package-lock.json

.PHONY: install-agents
install-agents: agents remote-servers
	deploy/ops/promtool.sh >/dev/null

.PHONY: e2e-postgres
e2e-postgres: binary ## The tests of the whole program that depend on the database, with their logs in a PostgreSQL that they start
	$(WITH_BINARY) TRIBUTARY_TEST_DB=postgres $(GO_TEST) -count=1 -run '^TestKill' ./test/e2e

.PHONY: e2e-postgres-all
e2e-postgres-all: binary
	$(WITH_BINARY) TRIBUTARY_TEST_DB=postgres $(GO_TEST) -count=1 ./test/e2e

.PHONY: quick
quick: need-go ## The Go tests that need no installation and little time
	$(GO) test -short ./...

.PHONY: test-go
test-go: binary ## The Go tests
	promtool=$$(deploy/ops/promtool.sh) && PROMTOOL=$$promtool $(WITH_BINARY) $(GO_TEST) ./internal/cli ./eventlog/sqllog ./session ./test/e2e/... ./... # the longest first

.PHONY: test-race
test-race: need-cc ## The Go tests of the packages with goroutines, with the race detector, but not with real agents: their side has none of our goroutines
	CGO_ENABLED=1 $(GO_TEST) -race -short -skip '$(SAME_GOROUTINES)' '-gcflags=modernc.org/sqlite/lib=-race=false $(NO_TABLES)' $(RACE) # SQLite itself, which is C made into Go, is not watched: it takes three times as long then

.PHONY: ops
ops: need-go ## The alert rules and the dashboard, asked of Prometheus' own promtool
	promtool=$$(deploy/ops/promtool.sh) && PROMTOOL=$$promtool $(GO) test -count=1 ./deploy/ops

# One pip makes all environments: one in each takes ten seconds of processor time.
bin/pip/pyvenv.cfg: | need-python
	python3 -m venv bin/pip

define MAKE_VENV
python3 -m venv --without-pip $(@D)
$(@D)/bin/python bin/pip/lib/python3*/site-packages/pip install -q --no-deps --require-hashes -r $<
@touch $@
endef

test/conformance/uiendpoint/venv/installed: test/conformance/uiendpoint/requirements.txt | bin/pip/pyvenv.cfg
	$(MAKE_VENV)

.PHONY: uiendpoint
uiendpoint: test/conformance/node_modules/.package-lock.json ## Install the endpoints of the tests of adapter/uiendpoint: the AI SDK, and pydantic-ai where there is Python
	@$(MAKE) test/conformance/uiendpoint/venv/installed || echo "The tests skip pydantic-ai, and fail on a CI machine." >&2

.PHONY: eval
eval: agents-all ## Ten small tasks for five real agents with a scripted model, by tributary eval run
	TRIBUTARY_TEST_FULL=1 $(GO) test -count=1 -v ./test/eval

.PHONY: restarts
restarts: remote-servers ## Restarts of the gateway and of remote sources, 200 of each, and messages of 50 MB
	TRIBUTARY_TEST_ROUNDS=200 $(GO) test -count=1 -timeout 30m -run 'Restart|RealServer|Suite/huge' ./adapter/agui ./adapter/langgraph ./adapter/openharness ./adapter/uiendpoint

.PHONY: remote-servers
remote-servers: langgraph uiendpoint agui ## Install all servers of the tests of remote sources

.PHONY: agents
agents: need-go need-node ## Install the real agents that make test runs, outside the project
	$(GO) run ./internal/testkit/realagent/install

test/conformance/langgraph/node_modules/.package-lock.json: test/conformance/langgraph/package-lock.json | need-node
	npm --prefix test/conformance/langgraph ci --no-audit --no-fund
	@touch $@

test/conformance/langgraph/python/venv/installed: test/conformance/langgraph/python/requirements.txt | bin/pip/pyvenv.cfg
	$(MAKE_VENV)

# A Python for the programs of test/readers. Their lock files are of 3.12.
READERS_PYTHON = $(shell for p in python3 python3.12 python3.13 $(wildcard $(HOME)/.pyenv/versions/3.12*/bin/python3); do \
  $$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 12) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$p && break; done)

test/readers/venv/%/installed: test/readers/%.txt
	$(READERS_PYTHON) -m venv test/readers/venv/$*
	test/readers/venv/$*/bin/pip install -q --no-deps -r $<
	@touch $@

.PHONY: readers
readers: binary ## Programs of others that read exports: Harbor, agentevals, promptfoo, Phoenix and MLflow, installed into the project (five gigabytes)
	@if [ -z "$(READERS_PYTHON)" ]; then echo "There is no Python 3.12 or 3.13 with venv: the readers of exports are not tested."; else \
	  $(MAKE) $(patsubst test/readers/%.txt,test/readers/venv/%/installed,$(wildcard test/readers/*.txt)) test/readers/_promptfoo/node_modules/.package-lock.json && \
	  TRIBUTARY_TEST_READERS=$(CURDIR)/test/readers/venv $(WITH_BINARY) $(GO_TEST) -count=1 ./test/readers; fi

test/readers/_promptfoo/node_modules/.package-lock.json: test/readers/_promptfoo/package-lock.json | need-node
	npm --prefix test/readers/_promptfoo ci --no-audit --no-fund --ignore-scripts
	@touch $@

.PHONY: langgraph
langgraph: test/conformance/langgraph/node_modules/.package-lock.json ## Install the LangGraph servers of the tests of adapter/langgraph (300 MB); Python's only where there is a python3
	@if command -v python3 >/dev/null; then $(MAKE) test/conformance/langgraph/python/venv/installed; else echo "There is no python3: LangGraph's Python server is not tested."; fi

test/conformance/agui/node_modules/.package-lock.json: test/conformance/agui/package-lock.json | need-node
	npm --prefix test/conformance/agui ci --no-audit --no-fund --ignore-scripts
	@touch $@

test/conformance/agui/venv/installed: test/conformance/agui/requirements.txt | bin/pip/pyvenv.cfg
	$(MAKE_VENV)

.PHONY: agui
agui: test/conformance/agui/node_modules/.package-lock.json ## Install the AG-UI endpoints of the tests of adapter/agui (90 MB); Python's only where there is a Python with venv
	@if $(HAS_PYTHON); then $(MAKE) test/conformance/agui/venv/installed; else echo "There is no Python 3.10 or later with venv (on Debian: apt install python3-venv): Pydantic AI's endpoint is not tested."; fi

.PHONY: agents-all
agents-all: need-go need-node ## Install all real agents (three gigabytes)
	$(GO) run ./internal/testkit/realagent/install -all

.PHONY: agents-strict
agents-strict: binary agents ## The real agents that make test runs, in the box of a gateway for several people
	$(WITH_BINARY) TRIBUTARY_TEST_BOX=strict $(GO_TEST) -count=1 -run RealAgentsTellTheSame ./test/e2e/agents

.PHONY: ways
ways: agents-all ## The ways to act without being asked, tried on the real agents; ARGS=-update writes their tables
	TRIBUTARY_TEST_AGENTS=all $(GO) test -count=1 -run Unasked ./adapter/claude ./adapter/codex ./adapter/opencode ./adapter/acp $(ARGS)

.PHONY: test-agents
test-agents: agents-all binary test/conformance/node_modules/.package-lock.json ## The real agents that make test does not run, one of them with the real clients
	$(WITH_BINARY) TRIBUTARY_TEST_AGENTS=others $(GO_TEST) -count=1 -timeout 20m -v ./test/e2e/agents
	$(WITH_BINARY) TRIBUTARY_TEST_AGENTS=all TRIBUTARY_TEST_BOX=strict $(GO_TEST) -count=1 -run RealAgentsTellTheSame ./test/e2e/agents
	TRIBUTARY_TEST_AGENTS=others $(GO_TEST) -count=1 -timeout 20m -run Real ./adapter/opencode ./adapter/acp
	cd test/conformance && node run.mjs --agent claude-acp && node convert.mjs --from opencode --bare && node convert.mjs --from acp --bare
	@$(MAKE) sdk-examples

examples/claude-agent-sdk/typescript/node_modules/.package-lock.json: examples/claude-agent-sdk/typescript/package-lock.json | need-node
	npm --prefix examples/claude-agent-sdk/typescript ci --no-audit --no-fund
	@touch $@

examples/claude-agent-sdk/python/venv/installed: examples/claude-agent-sdk/python/requirements.lock
	python3 -m venv examples/claude-agent-sdk/python/venv
	examples/claude-agent-sdk/python/venv/bin/pip install -q --no-deps --require-hashes -r $<
	examples/claude-agent-sdk/python/venv/bin/pip install -q --no-deps --no-index -r examples/claude-agent-sdk/python/requirements.txt # it fails if the lock file has another version
	@touch $@

.PHONY: sdk-examples
sdk-examples: need-python agents examples/claude-agent-sdk/typescript/node_modules/.package-lock.json examples/claude-agent-sdk/python/venv/installed ## The examples on the Claude Agent SDK, with the real Claude Code below them
	TRIBUTARY_SDK_TYPESCRIPT=$(CURDIR)/examples/claude-agent-sdk/typescript TRIBUTARY_SDK_PYTHON=$(CURDIR)/examples/claude-agent-sdk/python \
	  $(GO) test -count=1 -run ClaudeAgentSDK ./adapter/claude

packages/chat/node_modules/.package-lock.json: packages/chat/package-lock.json | need-node
	npm --prefix packages/chat ci --no-audit --no-fund
	@touch $@

packages/chat/generate/node_modules/.package-lock.json: packages/chat/generate/package-lock.json | need-node
	npm --prefix packages/chat/generate ci --no-audit --no-fund
	@touch $@

.PHONY: chat-types
chat-types: packages/chat/generate/node_modules/.package-lock.json ## Write the types of @tributary/chat from docs/reference/openapi.yaml
	node packages/chat/generate/types.mjs

.PHONY: chat
chat: bin/tributary-chat.tgz ## Pack @tributary/chat as bin/tributary-chat.tgz, which apps install until npm has the package

bin/tributary-chat.tgz: packages/chat/node_modules/.package-lock.json deploy/npm/chat.mjs LICENSE $(shell find packages/chat -name node_modules -prune -o -name dist -prune -o -type f -print)
	@mkdir -p bin && to=$$(mktemp -d bin/chat.XXXXXX) && node -e 'import("./deploy/npm/chat.mjs").then(chat => chat.packChat("0.0.0-clone", process.argv[1]))' "$$to" && \
	  mv "$$to"/*.tgz $@ && touch $@ && rmdir "$$to"

.PHONY: chat-package
chat-package: binary chat test/conformance/node_modules/.package-lock.json packages/chat/generate/node_modules/.package-lock.json ## @tributary/chat, packed and installed, with the real AI SDK clients
	cd test/conformance && node --test --test-concurrency=4 --test-reporter=spec chat-package.test.mjs chat-conversation.test.mjs chat-input.test.mjs chat-frameworks.test.mjs

.PHONY: conformance
conformance: binary test/conformance/node_modules/.package-lock.json ## The real AI SDK clients against the binary with the demo agent: each case × client, both ways, both profiles
	cd test/conformance && node run.mjs

.PHONY: conformance-others
conformance-others: binary test/conformance/node_modules/.package-lock.json ## What conformance-once leaves out of conformance
	cd test/conformance && node run.mjs --others

.PHONY: conformance-once
conformance-once: binary test/conformance/node_modules/.package-lock.json ## The same, each case × client once; React, Vue, Svelte and assistant-ui; the apps of docs/
	cd test/conformance && node --test --test-concurrency=3 --test-reporter=spec app.test.mjs frameworks.test.mjs observability.test.mjs page.test.mjs parts.test.mjs rfc.test.mjs websocket.test.mjs && node run.mjs --once

.PHONY: conformance-newest
conformance-newest: binary agents test/conformance/node_modules/.package-lock.json ## The newest client with the real Claude Code and Codex
	cd test/conformance && node run.mjs --agent claude $(NEWEST_CLIENT) && node run.mjs --agent codex $(NEWEST_CLIENT)

.PHONY: page-test
page-test: binary test/conformance/node_modules/.package-lock.json ## The gateway's own page, as people use it, in Chromium
	cd test/conformance && node --test --test-concurrency=4 --test-reporter=spec page/*.test.mjs

test/conformance/outside/node_modules/.package-lock.json: test/conformance/outside/package-lock.json | need-node
	npm --prefix test/conformance/outside ci --no-audit --no-fund
	@touch $@

.PHONY: outside
outside: binary test/conformance/node_modules/.package-lock.json test/conformance/outside/node_modules/.package-lock.json ## Clients that others wrote: assistant-ui's transport, the terminal UI of the AI SDK, MUI X Chat, the requests of Vercel's chatbot template
	cd test/conformance/outside && node --test --test-concurrency=2 --test-reporter=spec *.test.mjs

test/conformance/workflow/node_modules/.package-lock.json: test/conformance/workflow/package-lock.json | need-node
	npm --prefix test/conformance/workflow ci --no-audit --no-fund
	@touch $@

.PHONY: workflow
workflow: binary test/conformance/node_modules/.package-lock.json test/conformance/workflow/node_modules/.package-lock.json ## The stock WorkflowChatTransport, with connections that are cut
	cd test/conformance/workflow && node --test --test-reporter=spec *.test.mjs

.PHONY: conformance-postgres
conformance-postgres: binary test/conformance/node_modules/.package-lock.json ## The newest client once more, before two gateways on a PostgreSQL that this starts, each of which gets every other request
	TRIBUTARY_TEST_GATEWAYS=2 $(GO) run ./internal/testkit/pgtest/with node test/conformance/run.mjs --once --client 7.0.173

.PHONY: conformance-postgres-all
conformance-postgres-all: binary test/conformance/node_modules/.package-lock.json
	$(GO) run ./internal/testkit/pgtest/with node test/conformance/run.mjs --once

.PHONY: conformance-selftest
conformance-selftest: binary test/conformance/node_modules/.package-lock.json ## The harness itself: what is damaged makes the right case fail
	cd test/conformance && npm run selftest

.PHONY: conformance-agentops
conformance-agentops: binary test/conformance/node_modules/.package-lock.json ## The same through two gateways, one as the agent of the other; the recordings of Agent Ops
	cd test/conformance && node run.mjs --agent agentops && node convert.mjs --from agentops

.PHONY: conformance-remote
conformance-remote: binary test/conformance/node_modules/.package-lock.json test/conformance/langgraph/node_modules/.package-lock.json ## The recordings of remote sources, read by the real clients; LangGraph's compared with @ai-sdk/langchain
	cd test/conformance && for agent in agui langgraph openharness uiendpoint; do node convert.mjs --from $$agent --bare || exit 1; done
	cd test/conformance && node langgraph/differential.mjs

.PHONY: conformance-claude
conformance-claude: binary agents test/conformance/node_modules/.package-lock.json ## Cases of the real Claude Code with the clients that conformance-newest leaves out, and its recordings
	cd test/conformance && node run.mjs --agent claude $(OLDER_CLIENTS) $(call cases,text tool permission) && node convert.mjs

.PHONY: conformance-codex
conformance-codex: binary agents test/conformance/node_modules/.package-lock.json ## The same with the real Codex
	cd test/conformance && node run.mjs --agent codex $(OLDER_CLIENTS) $(call cases,text tool approve) && node convert.mjs --from codex --bare

.PHONY: cuts
cuts: binary test/conformance/node_modules/.package-lock.json ## Random cuts of streams, resumed and compared: CUTS of them
	cd test/conformance && node cuts.mjs --cuts $(CUTS)

.PHONY: cuts-all
cuts-all:
	@$(MAKE) cuts CUTS=1000

.PHONY: page-measure
page-measure: binary test/conformance/node_modules/.package-lock.json ## The page with very long sessions and answers, and in four views
	cd test/conformance && TRIBUTARY_TEST_FULL=1 node --test --test-concurrency=2 --test-reporter=spec page/*.test.mjs

.PHONY: agent-acp
agent-acp: binary test/conformance/node_modules/.package-lock.json ## One agent of those that make test-agents runs, with the newest client
	$(GO) run ./internal/testkit/realagent/install claude-acp
	cd test/conformance && node run.mjs --agent claude-acp --client 7.0.173

.PHONY: mutations
mutations: need-go ## Wrong changes of the code, each of which a test must notice (ARGS="-run NAME")
	$(GO) run ./test/mutations $(ARGS)

test/conformance/first-use/node_modules/.package-lock.json: test/conformance/first-use/package-lock.json | need-node
	npm --prefix test/conformance/first-use ci --no-audit --no-fund
	@touch $@

.PHONY: first-use
first-use: binary packages/chat/node_modules/.package-lock.json test/conformance/node_modules/.package-lock.json test/conformance/first-use/node_modules/.package-lock.json ## The quickstart and the guides, followed in fresh apps (Vite, Next.js), the templates, and the page behind nginx and Caddy, with Chromium
	cd test/conformance/first-use && node --test --test-concurrency=2 --test-reporter=spec types.test.mjs follow.test.mjs templates.test.mjs proxies.test.mjs

.PHONY: pictures
pictures: binary test/conformance/node_modules/.package-lock.json ## Take the pictures of the page in docs/img, in Chromium
	cd test/conformance && node page/pictures.mjs

.PHONY: film
film: build ## Film the page for the README, in Chromium
	npm --prefix tools/picture ci --no-audit --no-fund
	cd tools/picture && node film.mjs

.PHONY: endurance
endurance: binary test/conformance/node_modules/.package-lock.json ## Kills, cuts, faults and 100,000 turns, as one table (thirty-five minutes)
	$(GO) run ./test/endurance $(ARGS)

# 200 kills, 50 pauses and 60 partitions (interruptions), 20 outages and 20 fail-overs of PostgreSQL.
.PHONY: endurance-cluster
endurance-cluster: binary ## The rows of endurance with several gateways on one PostgreSQL
	$(GO) run ./test/endurance -only rivals,beside,stale,owners,upgrade,deaths,leases,interruptions,sleeps,outages,failovers -deaths 200 $(ARGS)

.PHONY: endurance-quick
endurance-quick: binary ## The same in small sizes, some three minutes
	$(GO) run ./test/endurance -quick

.PHONY: npm-test
npm-test: binary packages/chat/node_modules/.package-lock.json ## Pack the npm packages, and install and start them from a registry on loopback
	node --test deploy/npm/npm.test.mjs

.PHONY: foreign
foreign: need-go ## Check that the program compiles for Windows and macOS
	$(GO) run ./test/foreign windows darwin

.PHONY: snapshot
snapshot: need-go need-node ## Build the release in bin/release and bin/npm without publishing it (the first time builds GoReleaser)
	deploy/snapshot.sh

.PHONY: lint
lint: need-go ## Lint (the first time builds the linter, about two minutes)
	$(LINT) run ./...

.PHONY: fmt
fmt: need-go ## Format the Go sources
	$(LINT) fmt ./...

.PHONY: fmt-check
fmt-check: need-go
	@unformatted=$$($(GO_FILES) | xargs gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt: $$unformatted" >&2; exit 1; fi

tools/javascript/node_modules/.package-lock.json: tools/javascript/package-lock.json | need-node
	npm --prefix tools/javascript ci --no-audit --no-fund
	@touch $@

.PHONY: js-lint
js-lint: tools/javascript/node_modules/.package-lock.json web/node_modules/.package-lock.json packages/chat/node_modules/.package-lock.json test/conformance/node_modules/.package-lock.json ## Lint the JavaScript and TypeScript, and check their format
	tools/javascript/node_modules/.bin/biome check --error-on-warnings .
	tools/javascript/node_modules/.bin/eslint --cache --cache-strategy content --cache-location tools/javascript/node_modules/.cache/eslint -c tools/javascript/eslint.config.mjs .

.PHONY: js-fmt
js-fmt: tools/javascript/node_modules/.package-lock.json ## Format the JavaScript and TypeScript
	tools/javascript/node_modules/.bin/biome format --write .

.PHONY: js-test
js-test: web/node_modules/.package-lock.json packages/chat/node_modules/.package-lock.json ## The files of the page and of @tributary/chat that need no browser
	npm --prefix web test
	npm --prefix packages/chat test

.PHONY: fuzz
fuzz: need-go ## Every fuzz target for FUZZTIME; few attempts to make an input smaller, for large seeds stall the default
	@for package in $$($(GO_FILES) | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u); do \
	  for target in $$($(GO) test -list '^Fuzz' ./$$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x ./$$package; \
	  done; \
	done

test/bench/peer/node_modules/.package-lock.json: test/bench/peer/package-lock.json | need-node
	npm --prefix test/bench/peer ci --no-audit --no-fund
	@touch $@

.PHONY: bench
bench: binary test/bench/peer/node_modules/.package-lock.json ## The gateway beside Node and raw Go, and the page beside assistant-ui, as two tables: less than twenty minutes, ARGS=--quick seven
	$(GO) run ./test/bench $(ARGS)
	@$(MAKE) bench-page

test/bench/page/node_modules/.package-lock.json: test/bench/page/package-lock.json | need-node
	npm --prefix test/bench/page ci --no-audit --no-fund

.PHONY: bench-page
bench-page: binary test/bench/page/node_modules/.package-lock.json ## The gateway's page beside assistant-ui's thread, in Chromium (two minutes)
	node test/bench/page/measure.mjs

.PHONY: bench-go
bench-go: need-go ## The Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: clean
clean: ## Remove what was built and installed
	rm -rf bin; find . -name node_modules -prune -exec rm -rf {} +; find . -type d -name venv -prune -exec rm -rf {} +; rm -rf packages/chat/dist

.PHONY: need-go need-node need-cc need-python
need-go:
	@command -v $(GO) >/dev/null || { echo "Go is missing: install version 1.26 or later." >&2; exit 1; }

need-node:
	@command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || a === 20 && b >= 19 ? 0 : 1)' \
	  || { echo "Node.js with npm is missing or too old: install version 20.19 or later." >&2; exit 1; }

need-python:
	@$(HAS_PYTHON) \
	  || { echo "Python is missing or too old: install version 3.10 or later, with venv." >&2; exit 1; }

need-cc: need-go
	@command -v "$$($(GO) env CC)" >/dev/null \
	  || { echo "A C compiler is missing, and Go's race detector needs one: install gcc and libc6-dev." >&2; exit 1; }
