# The targets of daily work. "make test" is all a contributor needs.

GO        ?= go
BIN       := $(CURDIR)/bin
CADDY_LOW := v2.11.8
CADDY_NEW := v2.11.9

GOLANGCI_VERSION := v2.15.0
XCADDY_VERSION   := v0.4.5

.PHONY: test race fuzz crash lint tools build xcaddy bench-smoke bench clean

# Everything that must hold, with the real binary. Some tests mount a small
# file system to fill it, and need root for that.
test:
	$(GO) vet ./...
	$(GO) test -timeout 25m ./...

race:
	$(GO) test -race -timeout 30m ./caddymodule/...

# 30 seconds for each fuzz target.
fuzz:
	@for pkg in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 30s $$pkg || exit 1; \
		done; \
	done

# A thousand kill -9 under load, for the night.
crash:
	HOOKONCE_KILLS=1000 $(GO) test -timeout 120m -run 'Crash' ./cmd/hookonce/e2e/

tools: $(BIN)/golangci-lint $(BIN)/xcaddy

$(BIN)/golangci-lint:
	GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(BIN)/xcaddy:
	GOBIN=$(BIN) $(GO) install github.com/caddyserver/xcaddy/cmd/xcaddy@$(XCADDY_VERSION)

lint: $(BIN)/golangci-lint
	$(BIN)/golangci-lint run ./...

build:
	$(GO) build -o $(BIN)/hookonce ./cmd/hookonce

# Builds as users do, on the lowest and the newest Caddy we support.
xcaddy: $(BIN)/xcaddy
	$(BIN)/xcaddy build $(CADDY_LOW) --with github.com/hookonce/hookonce/caddymodule --replace github.com/hookonce/hookonce=. --output $(BIN)/caddy-low
	$(BIN)/xcaddy build $(CADDY_NEW) --with github.com/hookonce/hookonce/caddymodule --replace github.com/hookonce/hookonce=. --output $(BIN)/caddy-new

bench-smoke: build
	$(GO) run ./cmd/hookbench --binary $(BIN)/hookonce --smoke

bench: build
	$(GO) run ./cmd/hookbench --binary $(BIN)/hookonce

clean:
	rm -rf $(BIN)
