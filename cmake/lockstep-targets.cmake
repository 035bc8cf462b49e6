# The target lockstep::lockstep and lockstep_plugin(), of an installed Lockstep in LOCKSTEP_PREFIX.
include_guard(DIRECTORY)
if(NOT TARGET torch-cpu)
  include(${CMAKE_CURRENT_LIST_DIR}/TorchTarget.cmake)
endif()
if(NOT LOCKSTEP_TORCH_VERSION VERSION_EQUAL lockstep_built_with_torch)
  message(FATAL_ERROR "lockstep: this Lockstep was built with torch ${lockstep_built_with_torch}, but '${LOCKSTEP_TORCH}' holds ${LOCKSTEP_TORCH_VERSION}")
endif()

if(NOT TARGET lockstep::lockstep)
  add_library(lockstep::lockstep SHARED IMPORTED)
  set_target_properties(lockstep::lockstep PROPERTIES
    IMPORTED_LOCATION ${LOCKSTEP_PREFIX}/lib/liblockstep.so
    INTERFACE_INCLUDE_DIRECTORIES ${LOCKSTEP_PREFIX}/include
    INTERFACE_COMPILE_DEFINITIONS "LOCKSTEP_PLUGIN_VERSION=\"${LOCKSTEP_VERSION} torch ${lockstep_built_with_torch}\""
    INTERFACE_COMPILE_FEATURES cxx_std_20)
  target_link_libraries(lockstep::lockstep INTERFACE torch-cpu Threads::Threads)
endif()

# lockstep_plugin(NAME sources…): libNAME.so, for `lockstep train --plugin libNAME.so`.
function(lockstep_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE lockstep::lockstep)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
endfunction()
