# LOCKSTEP_FUZZ: builds the modules without LibTorch and the fuzzers of tests/fuzz, with libFuzzer, ASan
# and UBSan, and nothing else (scripts/fuzz.sh). Needs clang; LibTorch is not looked for.
option(LOCKSTEP_FUZZ "Build the fuzzers, and only what they need (clang)" OFF)
if(NOT LOCKSTEP_FUZZ)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "LOCKSTEP_FUZZ needs clang: run `make fuzz`, or set CMAKE_CXX_COMPILER=clang++")
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
# float-cast-overflow is not a part of undefined, and is what a number from a file easily does.
set(sanitizers address,undefined,float-cast-overflow)
add_compile_options(-O2 -gline-tables-only -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,${sanitizers}
  -fno-sanitize-recover=all)
add_compile_definitions(_GLIBCXX_ASSERTIONS)
add_link_options(-fsanitize=${sanitizers})
