# boll: what a person types. The work is done by the tasks in deno.json; each leaves alone what is up to date.
# Deno itself is fetched on the first use, when the pinned version is not at hand (see .ci/deno).

DENO := .ci/deno

.DEFAULT_GOAL := help
.PHONY: help run test build reproduce bench escape fuzz soak capsules vendor clean

help: ## print these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-9s %s\n", $$1, $$2}' Makefile

run: capsules ## run a sample agent on the files of a folder, without a key; its review, the tree with each one's grants, and what the last did
	@$(DENO) task --quiet boll lock capsules
	@echo && $(DENO) task --quiet boll run capsules/reviewer --accept --mount ./capsules/wasi:/src:ro "Review the code"
	@echo && $(DENO) task --quiet boll trace tree
	@echo && $(DENO) task --quiet boll trace show last

test: build capsules ## all that CI checks: format, lint, types, and every test, on the source and on the binary
	@$(DENO) task --quiet ok

build: vendor ## make dist/boll, one executable; beside it, what is inside and whose work that is
	@$(DENO) task --quiet build

reproduce: vendor ## build what is committed twice, in fresh clones, and compare the bytes (minutes; fetches packages anew)
	@$(DENO) task --quiet reproduce

bench: build capsules ## measure side by side, and write docs/benchmarks.md (ONLY=sessions,frames measures parts, writes nothing)
	@$(DENO) task --quiet bench $(if $(ONLY),--only=$(ONLY))

escape: build ## try to get out: each attempt at each wall alone, as the table of docs/walls.md says
	@$(DENO) task --quiet escape

fuzz: build capsules ## feed all parsers, files, frames and guests with what breaks them, for long (RUNS=20 SEED=7 ONLY=records)
	@$(DENO) task --quiet fuzz "$(RUNS)" "$(SEED)" "$(ONLY)"
soak: build ## run a tree of forty sessions for five minutes, and kill its supervisor ten times: nothing may be lost
	@$(DENO) task --quiet soak

capsules: vendor ## build the sample capsules from their source
	@$(DENO) task --quiet capsules

vendor: ## prepare the packages and the transpiler
	@$(DENO) install --quiet --frozen
	@$(DENO) task --quiet vendor

clean: ## remove everything that was built or fetched
	rm -rf .build dist node_modules .deno
	find capsules tests -name '*.wasm' -delete
