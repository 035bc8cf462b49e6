// Converts between ATen tensors and the safetensors format.
#include "training/checkpoint/tensor_file.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/formats/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/neg.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

namespace lockstep {
namespace {

constexpr std::array<std::pair<at::ScalarType, const char*>, 10> dtype_names{
    {{at::kDouble, "F64"},
     {at::kFloat, "F32"},
     {at::kHalf, "F16"},
     {at::kBFloat16, "BF16"},
     {at::kLong, "I64"},
     {at::kInt, "I32"},
     {at::kShort, "I16"},
     {at::kChar, "I8"},
     {at::kByte, "U8"},
     {at::kBool, "BOOL"}}};

// Types that can be read but not written.
constexpr std::array<std::pair<at::ScalarType, const char*>, 3> fp8_names{
    {{at::kFloat8_e4m3fn, "F8_E4M3"},
     {at::kFloat8_e5m2, "F8_E5M2"},
     {at::kFloat8_e8m0fnu, "F8_E8M0"}}};

at::ScalarType dtype_of(const std::string& name, const std::filesystem::path& file) {
  if (const auto type = stored_dtype(name)) return *type;
  throw Error(cat(file.string(), ": dtype ", name, " is not supported"));
}

at::Tensor as_meant(const at::Tensor& kept, const StoredTensor& stored) {
  return stored.negated ? kept.neg() : kept;
}

// A file mapped privately and read-only. The mapping lives as long as its last owner.
class Mapping {
 public:
  explicit Mapping(const std::filesystem::path& file) {
    const UniqueFd fd = open_regular_file(file);
    struct stat status {};
    if (fstat(fd.get(), &status) != 0)
      throw Error(cat("could not open ", file.string(), ": ", errno_text(errno)));
    bytes_ = static_cast<std::size_t>(status.st_size);
    if (bytes_ == 0) throw Error(cat(file.string(), " is empty"));
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd.get(), 0);
    if (data_ == MAP_FAILED)
      throw Error(cat("could not map ", file.string(), ": ", errno_text(errno)));
  }
  ~Mapping() { munmap(data_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* data() const { return static_cast<char*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

std::optional<at::ScalarType> stored_dtype(const std::string& name) {
  for (const auto& [type, known] : dtype_names)
    if (known == name) return type;
  for (const auto& [type, known] : fp8_names)
    if (known == name) return type;
  return std::nullopt;
}

std::string dtype_name(at::ScalarType dtype) {
  for (const auto& [type, name] : dtype_names)
    if (type == dtype) return name;
  throw Error(cat("tensors of dtype ", c10::toString(dtype), " cannot be saved"));
}

struct StoredFiles::Impl {
  std::map<std::filesystem::path, std::shared_ptr<Mapping>> mappings;
};

StoredFiles::StoredFiles() : impl_(std::make_unique<Impl>()) {}
StoredFiles::~StoredFiles() = default;

at::Tensor StoredFiles::tensor(const std::filesystem::path& file, const StoredTensor& stored) {
  std::shared_ptr<Mapping>& mapping = impl_->mappings[file];
  if (!mapping) mapping = std::make_shared<Mapping>(file);
  if (stored.begin > mapping->bytes() || stored.bytes > mapping->bytes() - stored.begin)
    throw Error(cat(file.string(), " has become shorter while it was read"));
  LOCKSTEP_CHECK(stored.fault == nullptr);
  const at::TensorOptions options(dtype_of(stored.dtype, file));
  char* const data = mapping->data() + stored.begin;
  if (stored.bytes == 0) return at::empty(stored.shape, options);
  const std::size_t element = options.dtype().itemsize();
  if (reinterpret_cast<std::uintptr_t>(data) % element == 0)
    return as_meant(at::from_blob(
                        data, stored.shape, stored.strides, [mapping](void*) {}, options),
                    stored);
  const at::Tensor span = at::empty({static_cast<std::int64_t>(stored.bytes / element)}, options);
  std::memcpy(span.mutable_data_ptr(), data, stored.bytes);
  return as_meant(span.as_strided(stored.shape, stored.strides), stored);
}

void write_tensors(CheckpointWriter& writer, const std::string& file,
                   const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                   const std::vector<Alias>& aliases) {
  std::vector<TensorEntry> entries;
  for (const auto& [name, tensor] : tensors) {
    LOCKSTEP_CHECK(tensor.device().is_cpu());
    entries.push_back(
        {.name = name, .dtype = dtype_name(tensor.scalar_type()), .shape = tensor.sizes().vec()});
  }
  std::map<std::string, std::string> metadata;
  for (const Alias& alias : aliases) metadata[alias.name] = alias.of;
  metadata["format"] = "pt";
  const std::string header = make_header(entries, metadata);
  writer.append(file, header.data(), header.size());
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor rows = tensor.contiguous();
    writer.append(file, rows.const_data_ptr(), static_cast<std::size_t>(rows.nbytes()));
  }
}

std::map<std::string, at::Tensor> map_tensors(const std::filesystem::path& file) {
  const SafetensorsHeader header = read_header(file);
  const auto mapping = std::make_shared<Mapping>(file);
  std::map<std::string, at::Tensor> tensors;
  for (const TensorEntry& entry : header.tensors) {
    char* data = mapping->data() + header.data_start + entry.begin;
    tensors[entry.name] = at::from_blob(
        data, entry.shape, [mapping](void*) {}, at::TensorOptions(dtype_of(entry.dtype, file)));
  }
  return tensors;
}

std::map<std::string, std::string> read_aliases(const std::filesystem::path& file) {
  const SafetensorsHeader header = read_header(file);
  std::set<std::string> names;
  for (const TensorEntry& entry : header.tensors) names.insert(entry.name);
  std::map<std::string, std::string> aliases;
  for (const auto& [name, of] : header.metadata)
    if (names.contains(of) && !names.contains(name)) aliases[name] = of;
  return aliases;
}

}  // namespace lockstep
