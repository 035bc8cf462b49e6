// Names the files of a checkpoint. Also lists the checkpoint's buffers and the other names of
// tensors that have several names.
#pragma once

#include "training/checkpoint/snapshot.h"

#include <string>
#include <vector>

namespace lockstep {

inline constexpr const char* model_file = "model.safetensors";
inline constexpr const char* optimizer_file = "optimizer.safetensors";
inline constexpr const char* average_file = "ema.safetensors";

// Returns each buffer once, under its first name.
std::vector<NamedTensor> unique_buffers(const Trained& trained);

// parameter_aliases returns all names but the first of trained parameters, with `prefix` before
// each name. buffer_aliases returns all names but the first of buffers.
std::vector<Alias> parameter_aliases(const ParameterStorage& storage,
                                     const std::string& prefix = "");
std::vector<Alias> buffer_aliases(const Trained& trained);

}  // namespace lockstep
