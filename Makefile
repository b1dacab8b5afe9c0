# The main targets; every other file of scripts/ is a target, too. Variables are passed to the scripts:
# make fuzz FUZZ_SECONDS=20.
MAIN := run test test-all site clean
OTHERS := $(filter-out $(MAIN),$(filter-out %.sh,$(notdir $(wildcard scripts/*))))
DESCRIBE = printf '  make %-15s %s\n' $(1) "$$(sed -n '2s/^. //p' scripts/$(1))";

.PHONY: help $(MAIN) $(OTHERS)

help:
	@$(foreach name,$(MAIN),$(call DESCRIBE,$(name)))
	@echo; echo "Other work:"
	@$(foreach name,$(OTHERS),$(call DESCRIBE,$(name)))

# So that make test test-all tests the core once.
test-all: test

$(MAIN) $(OTHERS): %: scripts/%
	@$<
