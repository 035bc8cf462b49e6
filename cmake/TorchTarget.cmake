# Our own imported target for LibTorch in LOCKSTEP_TORCH, here and in projects that use an installed
# Lockstep; find_package(Torch) would demand a CUDA toolkit. Sets LOCKSTEP_TORCH_VERSION and
# LOCKSTEP_TORCH_LIBRARY_PATHS.
set(lockstep_torch_header ${LOCKSTEP_TORCH}/include/torch/headeronly/version.h)
if(NOT EXISTS ${lockstep_torch_header})
  message(FATAL_ERROR "LOCKSTEP_TORCH is ${LOCKSTEP_TORCH}, which holds no LibTorch 2.11 or newer")
endif()
set(LOCKSTEP_TORCH_VERSION "")
foreach(lockstep_part MAJOR MINOR PATCH)
  file(STRINGS ${lockstep_torch_header} lockstep_line REGEX "define TORCH_VERSION_${lockstep_part} [0-9]+")
  string(REGEX REPLACE ".* ([0-9]+)$" "\\1" lockstep_line "${lockstep_line}")
  list(APPEND LOCKSTEP_TORCH_VERSION ${lockstep_line})
endforeach()
list(JOIN LOCKSTEP_TORCH_VERSION "." LOCKSTEP_TORCH_VERSION)

# The wheels put NVIDIA's libraries beside torch/: site-packages/nvidia/*/lib.
file(GLOB LOCKSTEP_TORCH_LIBRARY_PATHS ${LOCKSTEP_TORCH}/lib ${LOCKSTEP_TORCH}/../nvidia/*/lib)

add_library(torch-cpu INTERFACE)
target_include_directories(torch-cpu SYSTEM INTERFACE
  ${LOCKSTEP_TORCH}/include ${LOCKSTEP_TORCH}/include/torch/csrc/api/include)
target_compile_definitions(torch-cpu INTERFACE USE_C10D_GLOO USE_DISTRIBUTED)
target_link_libraries(torch-cpu INTERFACE ${LOCKSTEP_TORCH}/lib/libtorch_cpu.so ${LOCKSTEP_TORCH}/lib/libc10.so)
# libtorch_cpu needs cudart and cupti, which it finds by its own path; the linker need not.
target_link_options(torch-cpu INTERFACE -Wl,--allow-shlib-undefined -Wl,--no-as-needed)
