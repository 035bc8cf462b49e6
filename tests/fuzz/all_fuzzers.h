// A table of all fuzzers, for programs that hold them all. Each was compiled with names of its own
// for the functions that libFuzzer calls (CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::fuzz {

struct Fuzzer {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
  // Null: libFuzzer's own mutations.
  std::size_t (*mutate)(std::uint8_t* data, std::size_t size, std::size_t max_size,
                        unsigned int seed);
};

}  // namespace lockstep::fuzz

#define FUZZER(name)                                                                       \
  extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);                  \
  extern "C" [[gnu::weak]] std::size_t mutate_##name(std::uint8_t* data, std::size_t size, \
                                                     std::size_t max_size, unsigned int seed);
#include "fuzzers.inc"
#undef FUZZER
