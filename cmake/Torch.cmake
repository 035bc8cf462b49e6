# Finds LibTorch from the PyPI wheel: LOCKSTEP_TORCH is the folder that holds include/ and lib/
# (scripts/setup.sh chooses it).
set(LOCKSTEP_TORCH "$ENV{LOCKSTEP_TORCH}" CACHE PATH "Folder of LibTorch, with include/ and lib/")
if(NOT LOCKSTEP_TORCH)
  if(EXISTS ${PROJECT_SOURCE_DIR}/.lockstep/torch)
    file(READ ${PROJECT_SOURCE_DIR}/.lockstep/torch LOCKSTEP_TORCH_FOUND)
    string(STRIP "${LOCKSTEP_TORCH_FOUND}" LOCKSTEP_TORCH_FOUND)
    set(LOCKSTEP_TORCH ${LOCKSTEP_TORCH_FOUND} CACHE PATH "" FORCE)
  endif()
endif()
if(NOT EXISTS "${LOCKSTEP_TORCH}/include/ATen/ATen.h")
  message(FATAL_ERROR "LibTorch not found: run `make setup`, or pass -DLOCKSTEP_TORCH=DIR")
endif()
include(TorchTarget)
include(TorchCuda)
message(STATUS "LibTorch ${LOCKSTEP_TORCH_VERSION} in ${LOCKSTEP_TORCH}, CUDA ${LOCKSTEP_TORCH_CUDA}")

# A light precompiled header: what nearly every torch source includes (STYLE: compile time).
function(lockstep_torch_pch name)
  target_precompile_headers(${name} PRIVATE
    <algorithm> <cstdint> <functional> <map> <memory> <optional> <string> <vector> <ATen/core/Tensor.h>)
endfunction()
