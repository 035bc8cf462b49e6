// Python's pickle format, as far as torch.save writes it for tensors: read as data. Nothing is ever
// called, imported or built; whatever else a pickle asks for is refused by its name.
// Source: the Python library's pickletools, "Opcodes".
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace lockstep {

using PickleIndex = std::uint32_t;  // of a value in Pickle::values

struct PickledStorage {
  std::string dtype, key;  // dtype as safetensors calls it: "F32"; key: in the file
  std::int64_t elements = 0;
};

// A tensor's place in a storage; sizes and strides in elements.
struct PickledTensor {
  std::size_t storage = 0;  // index into Pickle::storages
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes{}, strides{};
};

struct PickleValue {
  enum class Kind { none, boolean, integer, real, text, list, dict, global, storage, tensor };
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
  // Of a dict: the value of a text key; null: there is none.
  const PickleValue* find(const PickleValue& dict, const std::string& key) const;
};

// Reads one pickle, of at most `limit` bytes, and leaves the stream behind it. Throws Error that
// names what is not known: "it asks for the Python object os.system, …".
Pickle read_pickle(std::istream& in, std::uint64_t limit);

}  // namespace lockstep
