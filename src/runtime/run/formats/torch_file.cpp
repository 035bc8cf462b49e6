#include "runtime/run/formats/torch_file.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/formats/foreign_weights.h"
#include "runtime/run/formats/pickle.h"
#include "runtime/run/formats/zip_directory.h"

namespace lockstep {
namespace {

using Kind = PickleValue::Kind;

constexpr std::uint64_t most_pickle_bytes = 64 << 20;

// Returns where a storage's bytes lie in the file.
using FindStorage = std::function<ZipMember(const PickledStorage&)>;

std::uint64_t bytes_of(std::int64_t elements, const PickledNumbers& numbers) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(elements), numbers.bytes, &bytes))
    throw Error("a tensor is larger than 64 bits can count");
  return bytes;
}

// The number of elements from the first to the last, both included. 0 if there are none.
std::int64_t span_of(const PickledTensor& tensor) {
  std::int64_t last = 0, elements = 1;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(elements, tensor.sizes[d], &elements))
      throw Error("a tensor has more elements than 64 bits can count");
    if (tensor.sizes[d] > 0 &&
        (__builtin_mul_overflow(tensor.sizes[d] - 1, tensor.strides[d], &reach) ||
         __builtin_add_overflow(last, reach, &last)))
      throw Error("a tensor reaches beyond its storage");
  }
  if (elements == 0) return 0;
  if (last >= std::numeric_limits<std::int64_t>::max())
    throw Error("a tensor reaches beyond its storage");
  return last + 1;
}

StoredTensor locate(const std::string& name, const PickledTensor& tensor, const PickledStorage& of,
                    const FindStorage& find) {
  const std::string who = cat("tensor \"", printable(name), "\" ");
  const std::uint64_t bytes = bytes_of(span_of(tensor), *tensor.numbers);
  const std::uint64_t offset = bytes_of(tensor.offset, *tensor.numbers);
  const std::uint64_t storage_bytes = bytes_of(of.elements, *of.numbers);
  if (offset > storage_bytes || bytes > storage_bytes - offset)
    throw Error(cat(who, "reaches beyond its storage"));
  const ZipMember storage = find(of);
  if (storage_bytes > storage.bytes) throw Error(cat(who, "has a storage that is cut off"));
  return {.name = name,
          .dtype = std::string(tensor.numbers->dtype),
          .shape = tensor.sizes,
          .strides = tensor.strides,
          .begin = storage.begin + offset,
          .bytes = bytes,
          .negated = tensor.negated};
}

std::size_t count_tensors(const Pickle& pickle, const PickleValue& value) {
  if (value.kind != Kind::dict) return 0;
  std::size_t count = 0;
  for (std::size_t i = 1; i < value.items.size(); i += 2)
    if (pickle.at(value.items[i]).kind == Kind::tensor) ++count;
  return count;
}

std::string keys_of(const Pickle& pickle, const PickleValue& dict) {
  std::vector<std::string> keys;
  constexpr std::size_t most = 12;
  for (std::size_t i = 0; i < dict.items.size() && keys.size() < most; i += 2)
    if (const PickleValue& key = pickle.at(dict.items[i]); key.kind == Kind::text)
      keys.push_back(printable(key.text));
  return keys.empty() ? "nothing" : join(keys, ", ");
}

// The key whose value has the most tensors, if it has more than `least`. Empty if no value has.
// Keys that end in "_extra_state" are skipped, because they hold other module state.
std::string key_of_tensors(const Pickle& pickle, const PickleValue& dict, std::size_t least) {
  std::string best;
  std::set<PickleIndex> counted;  // the same dict may be stored under many keys
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& key = pickle.at(dict.items[i]);
    if (key.kind != Kind::text || key.text.ends_with("_extra_state") ||
        !counted.insert(dict.items[i + 1]).second)
      continue;
    if (const std::size_t count = count_tensors(pickle, pickle.at(dict.items[i + 1]));
        count > least) {
      least = count;
      best = key.text;
    }
  }
  return best;
}

// Finds the state dict. Tensors outside of it may be other data, such as a best loss or the state
// of a generator.
const PickleValue& state_dict_of(const Pickle& pickle, std::string& inside) {
  const PickleValue& root = pickle.at(pickle.root);
  if (root.kind != Kind::dict) throw Error("it holds no state dict");
  for (const char* key :
       {"state_dict", "model_state_dict", "model", "model_state", "network_weights"})
    if (const PickleValue* nested = pickle.find(root, key))
      if (count_tensors(pickle, *nested) > 0) {
        inside = key;
        return *nested;
      }
  const std::size_t count = count_tensors(pickle, root);
  const std::string other = key_of_tensors(pickle, root, count);
  if (count > 0 && other.empty()) return root;
  throw Error(cat("it holds no state dict, but a dict of ", keys_of(pickle, root)),
              other.empty() ? "in Python: torch.save(model.state_dict(), FILE)"
                            : cat("in Python: torch.save(torch.load(FILE)[\"", printable(other),
                                  "\"], NEW)"));
}

TorchFile tensors_of(const Pickle& pickle, const FindStorage& find) {
  TorchFile file;
  const PickleValue& dict = state_dict_of(pickle, file.inside);
  std::set<std::string> names;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue &key = pickle.at(dict.items[i]), &value = pickle.at(dict.items[i + 1]);
    if (value.kind != Kind::tensor) continue;
    if (key.kind != Kind::text) throw Error("it holds a tensor whose name is no text");
    if (!names.insert(key.text).second)
      throw Error(cat("tensor \"", printable(key.text), "\" is there twice"));
    const PickledTensor& tensor = pickle.tensors[static_cast<std::size_t>(value.integer)];
    if (tensor.fault != nullptr)  // it may have no storage
      file.tensors.push_back({.name = key.text, .dtype = "", .fault = tensor.fault});
    else
      file.tensors.push_back(locate(key.text, tensor, pickle.storages[tensor.storage], find));
  }
  return file;
}

TorchFile read_zipped(std::istream& in, std::uint64_t file_bytes) {
  const std::map<std::string, ZipMember> members = read_zip_directory(in, file_bytes);
  refuse_foreign_archive(members);
  for (const auto& [name, member] : members)
    if (member.packed)
      throw Error(cat("its member ", printable(name), " is compressed or encrypted"));
  constexpr std::string_view name = "/data.pkl";
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& member) {
    return member.first.ends_with(name) &&
           member.first.find('/') + name.size() == member.first.size();
  });
  if (found == members.end())
    throw Error("it is a zip archive, but none of torch.save: it has no data.pkl");
  const std::string folder = found->first.substr(0, found->first.size() - name.size() + 1);
  const auto seek = [&](std::uint64_t begin) {
    in.clear();
    in.seekg(static_cast<std::streamoff>(begin));
  };
  if (const auto order = members.find(folder + "byteorder"); order != members.end()) {
    std::string word(std::min<std::uint64_t>(order->second.bytes, 16), '\0');
    seek(order->second.begin);
    if (!in.read(word.data(), static_cast<std::streamsize>(word.size())) || word != "little")
      throw Error("its numbers have their high byte first");
  }
  seek(found->second.begin);
  const Pickle pickle = read_pickle(in, std::min(found->second.bytes, most_pickle_bytes));
  return tensors_of(pickle, [&](const PickledStorage& storage) {
    const auto member = members.find(cat(folder, "data/", storage.key));
    if (member == members.end())
      throw Error(cat("the storage ", printable(storage.key), " is missing"));
    return member->second;
  });
}

std::int64_t integer_at(std::istream& in) {
  std::uint64_t value = 0;
  unsigned char raw[8] = {};
  if (!in.read(reinterpret_cast<char*>(raw), sizeof raw)) throw Error("it is cut off");
  for (int i = 7; i >= 0; --i) value = value << 8 | raw[i];
  return static_cast<std::int64_t>(value);
}

bool has_magic(std::istream& in) {
  try {
    const Pickle magic = read_pickle(in, 64);
    return magic.at(magic.root).text == "1950a86a20f9469cfc6c";
  } catch (const Error&) {
    return false;
  }
}

std::string beginning_of(std::istream& in) {
  std::string begin(64, '\0');
  in.clear();
  in.seekg(0);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  return begin;
}

// Reads the format before torch 1.6. It begins with five pickles: a magic number, a version, the
// system, the object, and the keys of its storages. The storages follow in the order of the keys,
// each after its number of elements.
TorchFile read_legacy(std::istream& in, std::uint64_t file_bytes) {
  in.clear();
  in.seekg(0);
  if (!has_magic(in)) refuse_foreign_file(beginning_of(in));
  const auto refuse = [] {
    throw Error("it is damaged: it is no file of torch.save as it begins");
  };
  const Pickle version = read_pickle(in, 64);
  if (version.at(version.root).integer != 1001) refuse();
  const Pickle system = read_pickle(in, 4096);
  if (const PickleValue* little = system.find(system.at(system.root), "little_endian");
      little != nullptr && little->kind == Kind::boolean && little->integer == 0)
    throw Error("its numbers have their high byte first");
  const Pickle object = read_pickle(in, most_pickle_bytes);
  const Pickle keys = read_pickle(in, most_pickle_bytes);
  std::map<std::string, const PickledNumbers*> numbers;
  for (const PickledStorage& storage : object.storages) numbers[storage.key] = storage.numbers;
  std::map<std::string, ZipMember> storages;
  if (keys.at(keys.root).kind != Kind::list) refuse();
  for (const PickleIndex index : keys.at(keys.root).items) {
    const std::string& key = keys.at(index).text;
    const auto own = numbers.find(key);
    if (own == numbers.end()) throw Error("it has a storage that no tensor uses");
    const std::int64_t elements = integer_at(in);
    const auto begin = static_cast<std::uint64_t>(in.tellg());
    if (elements < 0) throw Error("it is damaged: a storage has less than no elements");
    const std::uint64_t bytes = bytes_of(elements, *own->second);
    if (bytes > file_bytes - std::min(begin, file_bytes)) throw Error("it is cut off");
    storages[key] = {.begin = begin, .bytes = bytes};
    in.seekg(static_cast<std::streamoff>(begin + bytes));
  }
  return tensors_of(object, [&](const PickledStorage& storage) {
    const auto found = storages.find(storage.key);
    if (found == storages.end())
      throw Error(cat("the storage ", printable(storage.key), " is missing"));
    return found->second;
  });
}

}  // namespace

TorchFile read_torch_file(std::istream& in, std::uint64_t file_bytes) {
  char begin[4] = {};
  in.read(begin, sizeof begin);
  if (in.gcount() == 4 && std::string_view(begin, 4) == "PK\3\4")
    return read_zipped(in, file_bytes);
  return read_legacy(in, file_bytes);
}

TorchFile read_torch_file(const std::filesystem::path& path) {
  std::error_code fault;
  const std::uint64_t bytes = std::filesystem::file_size(path, fault);
  std::ifstream in(path, std::ios::binary);
  if (fault || !in) throw Error(cat("cannot read ", path.string()));
  open_regular_file(path);  // throws Error if it is not a regular file
  try {
    return read_torch_file(in, bytes);
  } catch (const Error& error) {
    throw Error(cat(path.string(), " cannot be taken: ", error.what()), error.hint());
  }
}

}  // namespace lockstep
