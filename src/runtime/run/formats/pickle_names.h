// The Python objects that a pickle of tensors by torch.save may name. They are those that
// torch.load(weights_only=True) accepts. Source: torch/_weights_only_unpickler.py,
// _get_allowed_globals; torch/_utils.py.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep {

// Why a Python tensor cannot be used, and how to convert it in Python.
struct TensorFault {
  const char *what, *hint;  // "is sparse"
};
extern const TensorFault negated_tensor, conjugated_tensor, unknown_numbers;

// An element type under its name in Python: a storage class ("torch.FloatStorage") or a dtype.
struct PickledNumbers {
  std::string_view global;
  std::string_view dtype;   // the name in safetensors: "F32"; empty if it has none
  std::uint64_t bytes = 0;  // bytes of one element
};

// Null if the name is not a storage class, or not a dtype. The result lives as long as the program.
const PickledNumbers* numbers_of_storage(std::string_view global);
const PickledNumbers* numbers_of_dtype(std::string_view global);

// Why tensors that this function makes cannot be used. Null for any other function.
const TensorFault* fault_of_call(std::string_view global);

// Whether a call makes an object that is not part of a tensor: a device, a set, bytes.
bool makes_other(std::string_view global);

// Whether a pickle may name it. global: "module.name".
bool is_known_global(std::string_view global);

}  // namespace lockstep
