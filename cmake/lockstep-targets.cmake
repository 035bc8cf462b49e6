# The target lockstep::lockstep and lockstep_plugin(), of an installed Lockstep in LOCKSTEP_PREFIX.
include_guard(DIRECTORY)
if(NOT TARGET torch-cpu)
  include(${CMAKE_CURRENT_LIST_DIR}/TorchTarget.cmake)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/TorchCuda.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/PluginKernels.cmake)
if(NOT LOCKSTEP_TORCH_VERSION VERSION_EQUAL lockstep_built_with_torch)
  message(FATAL_ERROR "lockstep: this Lockstep was built with torch ${lockstep_built_with_torch}, but '${LOCKSTEP_TORCH}' holds ${LOCKSTEP_TORCH_VERSION}")
endif()

if(NOT TARGET lockstep::lockstep)
  add_library(lockstep::lockstep SHARED IMPORTED)
  set_target_properties(lockstep::lockstep PROPERTIES
    IMPORTED_LOCATION ${LOCKSTEP_PREFIX}/lib/liblockstep.so
    INTERFACE_INCLUDE_DIRECTORIES "${LOCKSTEP_PREFIX}/include;${LOCKSTEP_PREFIX}/include/lockstep-dependencies"
    INTERFACE_COMPILE_DEFINITIONS "LOCKSTEP_PLUGIN_VERSION=\"${LOCKSTEP_VERSION} torch ${lockstep_built_with_torch}\""
    INTERFACE_COMPILE_FEATURES cxx_std_20)
  target_link_libraries(lockstep::lockstep INTERFACE torch-cpu Threads::Threads)
endif()

# lockstep_plugin(NAME sources…): libNAME.so, for `lockstep train --plugin libNAME.so`. Sources that end in .cu become
# libNAME-cuda.so beside it, where they can be compiled (PluginKernels.cmake); then LOCKSTEP_PLUGIN_CUDA is defined.
function(lockstep_plugin name)
  set(sources ${ARGN})
  set(kernels ${ARGN})
  list(FILTER sources EXCLUDE REGEX "[.]cu$")
  list(FILTER kernels INCLUDE REGEX "[.]cu$")
  if(NOT sources)
    list(JOIN kernels ", " kernels)
    message(FATAL_ERROR "lockstep: the plugin ${name} has no C++ source, only '${kernels}': its recipe, with LOCKSTEP_PLUGIN(…), belongs into a .cpp file, which is built and loaded where there is no nvcc and no GPU, too")
  endif()
  add_library(${name} MODULE ${sources})
  target_link_libraries(${name} PRIVATE lockstep::lockstep)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  if(kernels)
    lockstep_plugin_cuda_sources(${name} ${kernels})
  endif()
endfunction()
