// Reads Python's pickle format as data, within the limits of torch.load(weights_only=True). Nothing
// is called, imported or constructed. If a pickle needs anything else, throws Error that names it.
// Source: the Python library's pickletools, "Opcodes".
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "runtime/run/formats/pickle_names.h"

namespace lockstep {

using PickleIndex = std::uint32_t;  // index of a value in Pickle::values

struct PickledStorage {
  const PickledNumbers* numbers = nullptr;  // is never null
  std::string key{};                        // its key in the file
  std::int64_t elements = 0;
};

// A view of a storage. Offset, sizes and strides are in elements of the tensor's own type. That
// type may differ from the storage's.
struct PickledTensor {
  std::size_t storage = 0;  // index into Pickle::storages
  const PickledNumbers* numbers = nullptr;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes{}, strides{};
  bool negated = false;                // the elements are the negatives of the stored ones
  const TensorFault* fault = nullptr;  // why it cannot be used; other members may then be unset
};

struct PickleValue {
  // other: an object that is not part of a tensor, such as a device, a set or bytes. Only this kind
  // is recorded for it.
  enum class Kind {
    none,
    boolean,
    integer,
    real,
    text,
    list,
    dict,
    global,
    storage,
    tensor,
    other
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;  // of boolean and integer: the value; of tensor and storage: the index
  // of text: the text; of global: "module.name"; of an integer above 64 bits: hex
  std::string text{};
  // of a list or tuple: the items; of a dict: key, value, key, value, …
  std::vector<PickleIndex> items{};
};

// Values refer to each other by index. There may be cycles.
struct Pickle {
  std::vector<PickleValue> values;
  std::vector<PickledTensor> tensors;
  std::vector<PickledStorage> storages;
  PickleIndex root = 0;

  const PickleValue& at(PickleIndex index) const { return values[index]; }
  // The value of a text key in a dict; the last one if the key occurs several times, as in Python.
  // Null if there is none.
  const PickleValue* find(const PickleValue& dict, const std::string& key) const;
};

// Reads one pickle of at most `limit` bytes. The stream is then just after it. Throws Error that
// names anything unknown: "it asks for the Python object os.system, …".
Pickle read_pickle(std::istream& in, std::uint64_t limit);

}  // namespace lockstep
