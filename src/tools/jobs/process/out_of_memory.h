// Detects from an attempt's log that a GPU ran out of memory.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// Returns the first line near the end of the log that reports this, or "" if no such line is there.
// It knows the messages of PyTorch, CUDA, cuBLAS, cuDNN, NCCL, JAX, TensorFlow, LightGBM, XGBoost
// and Lockstep.
std::string out_of_memory_line(const std::filesystem::path& log);

}  // namespace lockstep
