# One CMake target a folder ("module"): an object library of all its sources, so that the tool links
# the torch-free modules statically and liblockstep.so holds every module once.
find_package(Threads REQUIRED)

option(LOCKSTEP_UNITY "Compile the sources of a folder in groups of eight: a first build takes a third of the time" OFF)

# For libraries and programs.
function(lockstep_unity name)
  if(LOCKSTEP_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8 DISABLE_PRECOMPILE_HEADERS ON)
    # A file of a group looks like a header, in which types of anonymous namespaces would be wrong.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

add_library(lockstep-flags INTERFACE)
target_compile_options(lockstep-flags INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
target_include_directories(lockstep-flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})

# lockstep_module(NAME [TORCH | TOOL]): every .cpp of the calling folder. TORCH: with LibTorch; TOOL: for the tool
# alone, not in liblockstep.so.
function(lockstep_module name)
  cmake_parse_arguments(ARG "TORCH;TOOL" "" "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  lockstep_unity(${name})
  target_link_libraries(${name} PRIVATE lockstep-flags Threads::Threads)
  if(ARG_TORCH)
    target_link_libraries(${name} PRIVATE torch-cpu)
    lockstep_torch_pch(${name})
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_TORCH_MODULES ${name})
  elseif(ARG_TOOL)
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_TOOL_MODULES ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_CORE_MODULES ${name})
  endif()
endfunction()
