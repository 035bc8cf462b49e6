// Reads Python's pickle format as data: no Python object is called, imported or constructed.
// Accepts the Python objects that torch.load(weights_only=True) accepts. If a pickle names another
// object, throws Error that names it. Source: Python's pickletools.py, "Opcodes".
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "runtime/run/formats/pickle_names.h"

namespace lockstep {

using PickleIndex = std::uint32_t;  // index of a value in Pickle::values

struct PickledStorage {
  const PickledNumbers* numbers = nullptr;  // the element type; never null
  std::string key{};                        // the key of the storage in the torch.save file
  std::int64_t elements = 0;
};

// A view of a storage. Offset, sizes and strides are in elements of the tensor's own dtype, which
// may differ from the storage's.
struct PickledTensor {
  std::size_t storage = 0;  // index into Pickle::storages
  const PickledNumbers* numbers = nullptr;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes{}, strides{};
  bool negated = false;  // the elements are the negatives of the stored ones
  // Null if the tensor can be used. Otherwise the reason why it cannot; the other members may be
  // unset in that case.
  const TensorFault* fault = nullptr;
};

struct PickleValue {
  // other: an object of a kind that is not listed here, such as a device, a set or bytes. Its
  // contents are not stored.
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
  // boolean, integer: the value. tensor, storage: the index into Pickle::tensors or
  // Pickle::storages.
  std::int64_t integer = 0;
  // text: the text. global: "module.name". integer with more than 64 bits: its hexadecimal digits.
  std::string text{};
  // list (also for a tuple): its items. dict: key, value, key, value, …
  std::vector<PickleIndex> items{};
};

// The contents of a pickle. Values refer to each other by index. The references may form cycles.
struct Pickle {
  std::vector<PickleValue> values;
  std::vector<PickledTensor> tensors;
  std::vector<PickledStorage> storages;
  PickleIndex root = 0;

  const PickleValue& at(PickleIndex index) const { return values[index]; }
  // The value of a text key in a dict. Null if the dict has no such key. If the key occurs several
  // times, the last value, as in Python.
  const PickleValue* find(const PickleValue& dict, const std::string& key) const;
};

// Reads one pickle of at most `limit` bytes, and leaves the stream just after it. Throws Error if
// the pickle is damaged, is longer than `limit`, or names an object that is not accepted: "it asks
// for the Python object os.system, …".
Pickle read_pickle(std::istream& in, std::uint64_t limit);

}  // namespace lockstep
