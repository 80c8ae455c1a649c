# The stages of scripts/test: name, the stages that it needs, its command, and its title. scripts/stage runs the command.
#
# scripts/test runs `make --jobs 3` with this file, so three stages run at a time; of those that may start, make starts the
# first ones in `stages`. What follows a | must only not run at the same time. SHORT is --short, or empty for the complete
# forms (scripts/test --long).

stages := packages build swift interop clients lists hooks openapi-live kills errors cluster postgres examples soak power-loss demo exchanges \
    format house shellcheck openapi models tools fuzz docc sbom python-client javascript-client cost package image
run = @scripts/stage $@ "$^"
# With the lowest priority, so that it does not delay the compiler.
quietly = nice -n 19
LONG := $(if $(SHORT),,--long)

.PHONY: all $(stages)
all: $(CHOSEN)

packages:                         ; $(run) scripts/setup build test model soak docs ## What the tests need
build: packages                   ; $(run) scripts/checks/build ## Build
format: packages                  ; $(run) $(quietly) swift format lint --strict --recursive Package.swift Sources Tests examples ## Formatting
house: packages                   ; $(run) $(quietly) scripts/checks/house ## The size of the house
shellcheck: packages              ; $(run) $(quietly) scripts/checks/shellcheck ## Shell scripts
openapi: packages                 ; $(run) $(quietly) scripts/checks/openapi ## The API's description
models: packages                  ; $(run) $(quietly) scripts/checks/models ## The protocols as models
tools: packages                   ; $(run) $(quietly) scripts/checks/tools ## The tests of the benchmarks, of the interoperability tests and of the soaks
sbom: build                       ; $(run) scripts/checks/sbom ## The bill of materials
swift: build                      ; $(run) scripts/checks/swift $(LONG) ## Swift tests
docc: build                       ; $(run) scripts/checks/docc ## The documentation of the Swift library
fuzz: build | $(filter swift,$(CHOSEN)) ; $(run) scripts/checks/fuzz $(if $(SHORT),--replay,1) ## The corpus of each reader of strangers' bytes, and random input
postgres: build                   ; $(run) scripts/with-postgres scripts/checks/swift --only --filter StorageTests ## The tests of the store on PostgreSQL
exchanges: swift                  ; $(run) scripts/checks/openapi-recorded $(FETCHD_EXCHANGES) ## Recorded answers against the API's description
openapi-live: build               ; $(run) scripts/checks/openapi-live ## A live service against the API's description
python-client: build              ; $(run) scripts/checks/python-client ## The Python package
javascript-client: build          ; $(run) scripts/checks/javascript-client ## The JavaScript module
hooks: build                      ; $(run) scripts/checks/hooks $(SHORT) ## Commands for events, over kills
lists: build                      ; $(run) scripts/checks/lists $(SHORT) ## A long list
clients: build                    ; $(run) scripts/checks/clients $(SHORT) ## Generated clients
interop: build                    ; $(run) scripts/interop $(SHORT) ## Servers and proxies of others
examples: build                   ; $(run) scripts/checks/examples $(LONG) ## The commands in the documentation, and the examples
kills: build                      ; $(run) scripts/checks/faults kills $(SHORT) ## Kills at system calls
errors: build                     ; $(run) scripts/checks/faults errors --jobs 4 $(SHORT) ## A disk that fails
power-loss: build                 ; $(run) scripts/checks/power-loss $(SHORT) ## A loss of power
soak: build                       ; $(run) scripts/checks/soak $(if $(SHORT),1,10) ## Random load, faults and kills
cluster: build                    ; $(run) scripts/checks/cluster $(LONG) ## Three nodes on PostgreSQL under load, faults and kills
demo: build                       ; $(run) scripts/checks/demos ## The demos, with the debug build
package: packages | $(filter-out package image,$(CHOSEN)) ; $(run) scripts/checks/package ## The Debian package
image: packages | $(filter-out image,$(CHOSEN)) ; $(run) scripts/checks/image ## The container image
# What `cost` counts grows with the duration of a download, because each checkpoint costs statements, so nothing runs beside it.
cost: build | $(filter-out cost package image,$(CHOSEN)) ; $(run) scripts/checks/cost ## Allocations, system calls, SQL statements and instructions
