// The Python objects that torch.save's pickles of tensors name: all that a pickle may ask for. They
// are those of torch.load(weights_only=True).
// Source: torch/_weights_only_unpickler.py, _get_allowed_globals; torch/_utils.py.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

// Why a tensor of Python's cannot be taken, and what to do about it there.
struct TensorFault {
  const char *what, *hint;  // "is sparse"
};
extern const TensorFault negated_tensor, conjugated_tensor, unknown_numbers;

// Numbers as Python names them, by a class of storages ("torch.FloatStorage") or as a dtype.
struct PickledNumbers {
  std::string_view global;
  std::string_view dtype;   // as safetensors calls it: "F32"; "": it has none
  std::uint64_t bytes = 0;  // of one
};

// Null for what is no class of storages, and no dtype. They live as long as the program.
const PickledNumbers* numbers_of_storage(std::string_view global);
const PickledNumbers* numbers_of_dtype(std::string_view global);

// Of a function that makes tensors which cannot be taken; null: it is none.
const TensorFault* fault_of_call(std::string_view global);

// Whether calling it makes what no tensor consists of: a device, a set, bytes.
bool makes_other(std::string_view global);

// Whether a pickle may ask for it at all. global: "module.name".
bool is_known_global(std::string_view global);

}  // namespace lockstep
