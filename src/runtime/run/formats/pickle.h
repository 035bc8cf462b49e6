// Reads Python's pickle format as data, as far as torch.load(weights_only=True) accepts it. Nothing
// is ever called, imported or built. Any other request of a pickle is refused, and the Error names
// it. Source: the Python library's pickletools, "Opcodes".
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "runtime/run/formats/pickle_names.h"

namespace lockstep {

using PickleIndex = std::uint32_t;  // index of a value in Pickle::values

struct PickledStorage {
  const PickledNumbers* numbers = nullptr;  // never null
  std::string key{};                        // its key in the file
  std::int64_t elements = 0;
};

// A tensor's place in a storage. Offset, sizes and strides count elements of the tensor's own type,
// which may differ from the storage's.
struct PickledTensor {
  std::size_t storage = 0;  // index into Pickle::storages
  const PickledNumbers* numbers = nullptr;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes{}, strides{};
  bool negated = false;                // the elements are the negatives of the stored ones
  const TensorFault* fault = nullptr;  // why it cannot be used; then the rest may be missing
};

struct PickleValue {
  // other: an object that no tensor consists of (a device, a set, bytes); nothing else is kept of
  // it.
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
  std::int64_t integer = 0;  // value of boolean and integer; index of tensor and storage
  std::string text{};        // text; of global: "module.name"; of an integer of over 64 bits: hex
  std::vector<PickleIndex> items{};  // of a list or tuple: items; of a dict: key, value, key,
                                     // value, …
};

// Values refer to each other by index, also in cycles.
struct Pickle {
  std::vector<PickleValue> values;
  std::vector<PickledTensor> tensors;
  std::vector<PickledStorage> storages;
  PickleIndex root = 0;

  const PickleValue& at(PickleIndex index) const { return values[index]; }
  // The value of a text key in a dict, the last one as in Python; null if there is none.
  const PickleValue* find(const PickleValue& dict, const std::string& key) const;
};

// Reads one pickle, of at most `limit` bytes, and leaves the stream just after it. Throws Error
// that names anything unknown: "it asks for the Python object os.system, …".
Pickle read_pickle(std::istream& in, std::uint64_t limit);

}  // namespace lockstep
