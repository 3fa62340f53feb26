# The front door. `make run` measures this machine, `make test` tests everything; both install what they need.

PREFIX ?= /usr/local
DESTDIR ?=
TARGET := x86_64-unknown-linux-gnu
KENTRY := target/$(TARGET)/release/kentry
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
DIST := kentry-$(VERSION)-$(TARGET)

.PHONY: run build test quick bench soak soak-doctor fuzz small-kernel selftests lint install dist clean help

run: build ## Build, and measure this machine
	./$(KENTRY)

build: ## Build the command
	scripts/need.sh build
	cargo build --release --locked

test: ## Every test, as CI runs them, in some 45 minutes on two CPUs, or STAGES="unit lab guests slow" of them (whole: all that the lab, the distribution and the lab beside each Linux leave out otherwise, and the lab beside a Linux in Bochs): installs what they need, ends with one line for all
	scripts/need.sh test
	scripts/test.sh $(STAGES)

quick: ## The inner loop, in some six minutes on two CPUs: formatter, clippy, tests without the lab, guests and long simulations
	scripts/need.sh build
	scripts/test.sh quick

lint: ## Formatter and linters
	scripts/lint.sh

bench: build ## Precision and cost beside peers: writes bench/RESULTS.md
	scripts/need.sh bench
	bench/run.sh

soak: build ## How often comparisons of this machine with itself are wrong, in about twenty minutes (COMPARISONS=50 RUNS=3 BUDGET=2 LIVE=100; RESAMPLE=80 or RUNS_OF=FOLDER draws sides from whole runs)
	bench/soak.sh

soak-doctor: build ## How often checkups of this machine warn, with another CPU loaded in every second, in some seven minutes (RUNS=50)
	bench/doctor_soak.sh

fuzz: ## Fuzz the parsers for a while (FUZZ_SECONDS=60)
	fuzz/run.sh $(or $(FUZZ_SECONDS),60)

small-kernel: ## Build a Linux for guests that lets /dev/mem read all memory, in some five minutes; the tests use it where it is there
	scripts/small-kernel.sh

selftests: ## Build the tests that Linux brings for its entries; the tests run them in guests where they are there
	scripts/selftests.sh

# Without cargo: whoever installs (root) need not be whoever built, nor have a Rust.
install: ## Install what was built under PREFIX (/usr/local), honoring DESTDIR
	@[ -x $(KENTRY) ] || { echo "make install: there is no $(KENTRY) yet: build it first, with 'make build'" >&2; exit 1; }
	umask 022 && install -D -m 755 $(KENTRY) $(DESTDIR)$(PREFIX)/bin/kentry
	scripts/assets.sh $(KENTRY) $(DESTDIR)$(PREFIX)

dist: ## What is published, in dist/: the static command as tarball, .deb, .rpm and container image, its SBOM, checksums
	scripts/need.sh dist
	scripts/cargo-dist.sh build
	scripts/dist.sh target/$(TARGET)/dist/kentry $(DIST)

clean: ## Remove what was built
	cargo clean
	rm -rf dist

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
