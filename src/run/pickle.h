// Python's pickle format, as far as torch.load(weights_only=True) takes it: read as data. Nothing
// is ever called, imported or built; whatever else a pickle asks for is refused by its name.
// Source: the Python library's pickletools, "Opcodes".
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "run/pickle_names.h"

namespace lockstep {

using PickleIndex = std::uint32_t;  // of a value in Pickle::values

struct PickledStorage {
  const PickledNumbers* numbers = nullptr;  // never null
  std::string key{};                        // in the file
  std::int64_t elements = 0;
};

// A tensor's place in a storage; offset, sizes and strides in elements of its own numbers, which
// need not be those of the storage.
struct PickledTensor {
  std::size_t storage = 0;  // index into Pickle::storages
  const PickledNumbers* numbers = nullptr;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes{}, strides{};
  bool negated = false;                // its elements are the negatives of what is stored
  const TensorFault* fault = nullptr;  // why it cannot be taken; then the rest may be missing
};

struct PickleValue {
  // other: what no tensor consists of (a device, a set, bytes); no more is kept of it.
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
  std::int64_t integer = 0;  // of boolean and integer; of tensor and storage: an index
  std::string text{};  // of text; of global: "module.name"; of an integer of over 64 bits: hex
  std::vector<PickleIndex> items{};  // of a list or tuple; of a dict: key, value, key, value, …
};

// Values refer to each other by index, also in circles.
struct Pickle {
  std::vector<PickleValue> values;
  std::vector<PickledTensor> tensors;
  std::vector<PickledStorage> storages;
  PickleIndex root = 0;

  const PickleValue& at(PickleIndex index) const { return values[index]; }
  // Of a dict: the value of a text key, the last one as in Python; null: there is none.
  const PickleValue* find(const PickleValue& dict, const std::string& key) const;
};

// Reads one pickle, of at most `limit` bytes, and leaves the stream behind it. Throws Error that
// names what is not known: "it asks for the Python object os.system, …".
Pickle read_pickle(std::istream& in, std::uint64_t limit);

}  // namespace lockstep
