// Whether an attempt ended because a GPU had too little memory.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// The line at the end of its log that says so, as PyTorch, CUDA, cuBLAS, cuDNN, NCCL, JAX,
// TensorFlow, LightGBM, XGBoost and Lockstep write it; "" if there is none.
std::string out_of_memory_line(const std::filesystem::path& log);

}  // namespace lockstep
