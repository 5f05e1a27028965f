# boll: what a person types. The work is done by the tasks in deno.json and the programs in .ci/.
# Deno itself is fetched on the first use, when the pinned version is not at hand (see .ci/deno).

DENO := .ci/deno
BOLL := $(DENO) task --quiet boll
STAMPS := .build/stamps

.DEFAULT_GOAL := help
.PHONY: help run test ok build bench capsules clean

help: ## print these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-9s %s\n", $$1, $$2}' Makefile

run: $(STAMPS)/vendor $(STAMPS)/capsules ## run a sample capsule on the files in docs/, behind its walls
	@$(BOLL) run capsules/word-count --accept --mount ./docs:/data:ro

test: build $(STAMPS)/capsules ## everything CI checks: format, lint, types, and all tests on the source and on the binary
	@$(DENO) task --quiet ok

ok: test ## the same

build: $(STAMPS)/vendor ## make dist/boll, one executable
	@$(DENO) task --quiet build

bench: build $(STAMPS)/capsules ## measure side by side, and write docs/benchmarks.md
	@$(DENO) task --quiet bench

capsules: $(STAMPS)/vendor ## build the sample capsules from their source
	@$(DENO) task --quiet capsules
	@touch $(STAMPS)/capsules

clean: ## remove everything that was built or fetched
	rm -rf .build dist node_modules .deno
	find capsules tests -name '*.wasm' -delete

$(STAMPS)/install: deno.json deno.lock
	@$(DENO) install --quiet --frozen
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/vendor: $(STAMPS)/install .ci/vendor.ts
	@$(DENO) task --quiet vendor
	@touch $@

# Rebuilt when a source of a capsule changes; what is built (*.wasm) is no source.
CAPSULE_SOURCES := $(shell find capsules -type f ! -name '*.wasm')
$(STAMPS)/capsules: $(STAMPS)/vendor $(CAPSULE_SOURCES)
	@$(MAKE) --no-print-directory capsules
