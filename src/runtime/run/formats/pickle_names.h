// The Python objects that a pickle of tensors by torch.save may name. They are those of
// torch.load(weights_only=True). Source: torch/_weights_only_unpickler.py, _get_allowed_globals;
// torch/_utils.py.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

// Why a Python tensor cannot be used, and what to do about it in Python.
struct TensorFault {
  const char *what, *hint;  // "is sparse"
};
extern const TensorFault negated_tensor, conjugated_tensor, unknown_numbers;

// An element type as Python names it: a storage class ("torch.FloatStorage") or a dtype.
struct PickledNumbers {
  std::string_view global;
  std::string_view dtype;   // the name in safetensors: "F32"; "" if it has none
  std::uint64_t bytes = 0;  // of one element
};

// Null if the name is no storage class, or no dtype. Results live as long as the program.
const PickledNumbers* numbers_of_storage(std::string_view global);
const PickledNumbers* numbers_of_dtype(std::string_view global);

// Why tensors that this function makes cannot be used; null for other functions.
const TensorFault* fault_of_call(std::string_view global);

// Whether calling it makes an object that no tensor consists of: a device, a set, bytes.
bool makes_other(std::string_view global);

// Whether a pickle may name it at all. global: "module.name".
bool is_known_global(std::string_view global);

}  // namespace lockstep
