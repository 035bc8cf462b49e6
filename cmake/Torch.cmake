# Finds LibTorch from the PyPI wheel: LOCKSTEP_TORCH is the folder that holds include/ and lib/
# (scripts/setup.sh chooses it).
if(LOCKSTEP_TOOL_ONLY)  # what needs LibTorch is named and not built
  set(LOCKSTEP_TORCH_VERSION none)
  set(LOCKSTEP_TORCH_CUDA_NUMBER 0)
  add_library(torch-cpu INTERFACE)
  lockstep_headers(torch-headers ${std_headers})
else()
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

  lockstep_headers(torch-headers ${std_headers} <nlohmann/json.hpp> <ATen/TensorOperators.h> <ATen/core/Tensor.h>
    <ATen/core/grad_mode.h> <ATen/ops/arange.h> <ATen/ops/cat.h> <ATen/ops/empty.h> <ATen/ops/empty_like.h>
    <ATen/ops/full.h> <ATen/ops/stack.h> <ATen/ops/where.h> <ATen/ops/zeros.h> <ATen/ops/zeros_like.h>
    <torch/csrc/autograd/custom_function.h>)
  target_link_libraries(torch-headers PRIVATE torch-cpu)
endif()

# For the tool, which holds no LibTorch, and others: a header, as a definition would keep its sources from the precompiled one.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/built_with.h CONTENT
"// The LibTorch that this build was made with: its version, and that of its CUDA as 1000 * major + 10 * minor, 0 for none.
#pragma once
#define LOCKSTEP_TORCH_VERSION \"@LOCKSTEP_TORCH_VERSION@\"
#define LOCKSTEP_TORCH_CUDA @LOCKSTEP_TORCH_CUDA_NUMBER@
" @ONLY)
