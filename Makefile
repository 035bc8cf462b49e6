# Every task of the project by name; `make` lists them. V=1 shows every command.
BUILD ?= build
PREFIX ?= /usr/local
export V

.PHONY: help run test test-all setup build tarball wheel install gpu-test test-python lightgbm-cuda cuda-all test-newest chaos chaos-batch fuzz tsan format tidy docs pictures site clean
help:
	@echo 'make run          install what is missing, build, train a text model on all devices'
	@echo 'make test         run every test that this machine can run; of long ones a tenth, another one at each commit'
	@echo
	@echo 'make build        build everything'
	@echo 'make setup        install what is missing, choose LibTorch, and look at everything again'
	@echo 'make wheel        the tool and the engine for pip, without GPU code so far (build-wheel/)'
	@echo 'make tarball      the tool without LibTorch as one file for any x86_64 Linux (build-tarball/)'
	@echo 'make install      install into PREFIX (now $(PREFIX))'
	@echo 'make test-all     run every test, the long ones whole'
	@echo 'make gpu-test     run the tests that need a GPU or a Python with torch, and record the run'
	@echo 'make test-python  run the tests that compare with the torch of Python, in an environment of its own'
	@echo 'make lightgbm-cuda  build LightGBM with CUDA, for gbdt.device=cuda (minutes for each architecture)'
	@echo 'make cuda-all     compile the GPU code for every supported architecture, and record it'
	@echo 'make chaos        kill a random rank 1,000 times, and at 200 points of a save; record how that ends'
	@echo 'make chaos-batch  kill a batch 2,000 times at random, and at each call that changes a file; record how that ends'
	@echo 'make fuzz         run every parser of files on 10,000,000 mutated inputs, and record it (hours)'
	@echo 'make tsan         run the tests of what has threads and processes under ThreadSanitizer'
	@echo 'make test-newest  build and test against the newest torch of the package index, on the CPU'
	@echo 'make format       format the sources            make tidy   run clang-tidy'
	@echo 'make pictures     make the pictures of README and guides anew    make site  README and docs as a site (build-site/site)'
	@echo 'make docs         write docs/reference          make clean  remove build folders'

run: programs
	@$(BUILD)/lockstep train textgen --then evaluate,predict

test: build
	@scripts/test.sh $(BUILD)

test-all: build
	@LOCKSTEP_TEST_TENTH=all scripts/test.sh $(BUILD)

setup:
	@scripts/setup.sh --tests

.PHONY: ready ready-for-tests programs
ready:
	@scripts/setup.sh --quick

ready-for-tests:
	@scripts/setup.sh --quick --tests

programs: ready
	@scripts/build.sh $(BUILD) programs

build: ready-for-tests
	@scripts/build.sh $(BUILD)

tarball:
	@scripts/tarball.sh

wheel:
	@scripts/wheel.sh

install:
	@scripts/install.sh $(BUILD) $(PREFIX)

gpu-test: build
	@scripts/gpu-test.sh $(BUILD)

test-python: build
	@scripts/test-python.sh $(BUILD)

lightgbm-cuda: ready
	@scripts/lightgbm-cuda.sh $(BUILD)

cuda-all: ready
	@scripts/cuda-all.sh

chaos: build
	@scripts/chaos.sh $(BUILD)

chaos-batch: build
	@scripts/chaos-batch.sh $(BUILD) $(KILLS)

fuzz: ready-for-tests
	@scripts/fuzz.sh $(RUNS)

tsan: ready-for-tests
	@scripts/tsan.sh

test-newest: ready-for-tests
	@scripts/newest.sh build-newest

format:
	@scripts/sources.sh format

tidy: ready-for-tests
	@scripts/sources.sh tidy

docs: programs
	@scripts/docs.sh $(BUILD)

pictures: build
	@scripts/pictures.sh $(BUILD)

site:
	@scripts/site.sh

clean:
	@rm -rf build build-*
