// The Python objects that a pickle of tensors from torch.save may name. They are the objects that
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
  std::string_view dtype;   // the name in safetensors: "F32"; empty if that format lacks the type
  std::uint64_t bytes = 0;  // bytes of one element
};

// Return the element type of a storage class or of a dtype; null for any other name. The result
// lives as long as the program.
const PickledNumbers* numbers_of_storage(std::string_view global);
const PickledNumbers* numbers_of_dtype(std::string_view global);

// Some Python functions make tensors that cannot be used, such as sparse ones. Returns why, for the
// name of such a function. Null for any other name.
const TensorFault* fault_of_call(std::string_view global);

// Whether a call of this Python object makes something that is not part of a tensor: a device, a
// set, bytes.
bool makes_other(std::string_view global);

// Whether a pickle may name this Python object. global: "module.name".
bool is_known_global(std::string_view global);

}  // namespace lockstep
