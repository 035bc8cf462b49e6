// The names of a checkpoint's files, and the tensors that they hold.
#pragma once

#include "training/checkpoint/snapshot.h"

#include <string>
#include <vector>

namespace lockstep {

inline constexpr const char* model_file = "model.safetensors";
inline constexpr const char* optimizer_file = "optimizer.safetensors";
inline constexpr const char* average_file = "ema.safetensors";

// Returns each buffer once, by its first name.
std::vector<NamedTensor> unique_buffers(const Trained& trained);

// parameter_aliases returns the further names of parameters, with `prefix` before each name.
// buffer_aliases returns those of buffers.
std::vector<Alias> parameter_aliases(const ParameterStorage& storage,
                                     const std::string& prefix = "");
std::vector<Alias> buffer_aliases(const Trained& trained);

}  // namespace lockstep
