// All fuzzers as one libFuzzer program. Started as fuzz-NAME it is the fuzzer NAME.
#include "all_fuzzers.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

const lockstep::fuzz::Fuzzer* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  std::string_view name = **arguments;
  name.remove_prefix(name.rfind('/') + 1);
  for (const auto& fuzzer : all_fuzzers)
    if (name.starts_with("fuzz-") && name.substr(5) == fuzzer.name) chosen = &fuzzer;
  if (chosen != nullptr) return 0;
  std::fputs("start it as fuzz-NAME, with the name of a fuzzer\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return chosen->run(data, size);
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  if (chosen->mutate == nullptr) return LLVMFuzzerMutate(data, size, max_size);
  return chosen->mutate(data, size, max_size, seed);
}
