// The Python objects that torch.save's pickles of tensors name: all that a pickle may ask for.
#pragma once

#include <string_view>

namespace lockstep {

// "F32" of "torch.FloatStorage"; "" for what is no class of storages.
std::string_view dtype_of_storage(std::string_view global);

// Whether it is one of them, storages included. global: "module.name".
bool is_known_global(std::string_view global);

}  // namespace lockstep
