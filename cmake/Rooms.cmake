# One CMake target a folder ("room"): an object library of all its sources, so that the tool links
# the torch-free rooms statically and liblockstep.so holds every room once.
find_package(Threads REQUIRED)

add_library(lockstep-flags INTERFACE)
target_compile_options(lockstep-flags INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
target_include_directories(lockstep-flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})

# lockstep_room(NAME [TORCH]): every .cpp of the calling folder.
function(lockstep_room name)
  cmake_parse_arguments(ARG "TORCH" "" "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PRIVATE lockstep-flags Threads::Threads)
  if(ARG_TORCH)
    target_link_libraries(${name} PRIVATE torch-cpu)
    lockstep_torch_pch(${name})
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_TORCH_ROOMS ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_CORE_ROOMS ${name})
  endif()
endfunction()
