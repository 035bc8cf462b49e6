// Detects that an attempt ended because a GPU ran out of memory.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// The line near the end of its log that reports this, as PyTorch, CUDA, cuBLAS, cuDNN, NCCL, JAX,
// TensorFlow, LightGBM, XGBoost and Lockstep write it. "" if there is none.
std::string out_of_memory_line(const std::filesystem::path& log);

}  // namespace lockstep
