# One CMake target a room (a folder with a CMakeLists.txt): an object library of all its sources, so that the tool links
# the torch-free rooms statically and liblockstep.so holds every room once.
find_package(Threads REQUIRED)

option(LOCKSTEP_UNITY "Compile the sources of a folder in groups of up to 24: a first build takes less than a third of the time" OFF)

add_library(lockstep-flags INTERFACE)
target_compile_options(lockstep-flags INTERFACE -Wall -Wextra -Werror=switch -Wno-unused-parameter -Wno-missing-field-initializers)
# g++ looks for memory to free at every 30 % more of it, which takes a quarter of the time; from 1 GB on is early enough.
target_compile_options(lockstep-flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-expand=100 --param ggc-min-heapsize=1000000>)
target_include_directories(lockstep-flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})

# lockstep_headers(NAME HEADER…): a target that exists for its precompiled header, which others reuse. Their flags must
# be its own.
function(lockstep_headers name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/${name}.cpp CONTENT "")  # written once, not each time
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/headers/${name}.cpp)
  target_link_libraries(${name} PRIVATE lockstep-flags Threads::Threads)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
set(std_headers <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set>
  <span> <string> <string_view> <utility> <vector>)
lockstep_headers(core-headers ${std_headers} <nlohmann/json.hpp>)
# g++ 13 takes a precompiled header only where the level of optimization is the same.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  lockstep_headers(light-headers ${std_headers} <nlohmann/json.hpp>)
  target_compile_options(light-headers PRIVATE -O1)
endif()

# lockstep_reuse_headers(NAME FROM): in programs too, which take the flags of libraries for it.
function(lockstep_reuse_headers name from)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL EXECUTABLE AND CMAKE_POSITION_INDEPENDENT_CODE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
    target_link_options(${name} PRIVATE -pie)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${from})
endfunction()

# lockstep_compiled(NAME [TORCH | LIGHT]): for every library and program. With what most of its sources include, compiled
# once; in groups, where that is asked for: LibTorch's headers cost each group seconds, whatever is in it. LIGHT: what waits
# for files, processes and people is compiled with -O1, in two thirds of the time.
function(lockstep_compiled name)
  if("TORCH" IN_LIST ARGN)
    lockstep_reuse_headers(${name} torch-headers)
  elseif("LIGHT" IN_LIST ARGN AND TARGET light-headers)
    target_compile_options(${name} PRIVATE -O1)
    lockstep_reuse_headers(${name} light-headers)
  else()
    lockstep_reuse_headers(${name} core-headers)
  endif()
  if(LOCKSTEP_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
    # A file of a group looks like a header, in which types of anonymous namespaces would be wrong.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# lockstep_module(NAME [TORCH | TOOL] [LIGHT]): every .cpp of the calling folder and of the folders in it,
# down to those that are rooms of their own. TORCH: with LibTorch; TOOL: for the tool
# alone, not in liblockstep.so; LIGHT as in lockstep_compiled().
function(lockstep_module name)
  cmake_parse_arguments(ARG "TORCH;TOOL;LIGHT" "" "" ${ARGN})
  file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
  file(GLOB_RECURSE inner RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS */CMakeLists.txt)
  foreach(room ${inner})
    get_filename_component(room ${room} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${room}/")
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PRIVATE lockstep-flags Threads::Threads)
  lockstep_compiled(${name} ${ARGN})
  if(ARG_TORCH)
    target_link_libraries(${name} PRIVATE torch-cpu)
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_TORCH_MODULES ${name})
  elseif(ARG_TOOL)
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_TOOL_MODULES ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_CORE_MODULES ${name})
  endif()
endfunction()
