// Writes and checks the headers of safetensors files.
#include "runtime/run/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// The limit of the reference implementation.
constexpr std::uint64_t max_header_bytes = 100'000'000;
constexpr const char* metadata_key = "__metadata__";

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 17> dtypes = {{
    {"BOOL", 1},
    {"U8", 1},
    {"I8", 1},
    {"F8_E4M3", 1},
    {"F8_E5M2", 1},
    {"F8_E8M0", 1},
    {"I16", 2},
    {"U16", 2},
    {"F16", 2},
    {"BF16", 2},
    {"I32", 4},
    {"U32", 4},
    {"F32", 4},
    {"I64", 8},
    {"U64", 8},
    {"F64", 8},
    {"C64", 8},
}};

// The size of the tensor, computed from shape and dtype. Nothing if it does not fit into 64 bits.
std::optional<std::uint64_t> tensor_bytes(const TensorEntry& entry) {
  std::uint64_t bytes = dtype_bytes(entry.dtype);
  for (std::int64_t size : entry.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
      return std::nullopt;
  return bytes;
}

// Reads a header while nlohmann::json::sax_parse calls these functions. It keeps only the entries
// and no JSON tree, because a header may have a million names. Throws Error for an invalid header.
class HeaderParser {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit HeaderParser(SafetensorsHeader& header) : header_(header) {}

  bool null() { return other_value("null"); }
  bool boolean(bool value) { return other_value(value ? "true" : "false"); }
  // A negative number.
  bool number_integer(number_integer_t value) { return other_value(cat(value)); }
  bool number_float(number_float_t, const string_t& text) { return other_value(text); }
  bool number_unsigned(number_unsigned_t value) {
    if (!in_numbers() || value > std::numeric_limits<std::int64_t>::max())
      return other_value(cat(value));
    numbers_.push_back(static_cast<std::int64_t>(value));
    return true;
  }
  bool string(string_t& text) {
    if (depth_ == 2 && in_metadata_)
      header_.metadata[metadata_name_] = std::move(text);
    else if (depth_ == 2 && member_ == Member::dtype)
      entry_.dtype = std::move(text);
    else if (depth_ < 2 || member_ != Member::other)
      return other_value(nlohmann::json(text).dump(-1, ' ', false, replace_bad));
    return true;
  }
  bool binary(binary_t&) { return true; }  // not called, because JSON has no binary values

  bool start_object(std::size_t) {
    if (depth_ == 1) begin_entry();
    if (depth_ >= 2) begin_container();
    ++depth_;
    return true;
  }
  bool key(string_t& name) {
    if (depth_ == 1)
      name_ = std::move(name);
    else if (depth_ == 2 && in_metadata_)
      metadata_name_ = std::move(name);
    else if (depth_ == 2)
      begin_member(name);
    return true;
  }
  bool end_object() {
    if (--depth_ == 1 && !in_metadata_) end_entry();
    return true;
  }
  bool start_array(std::size_t) {
    if (depth_ < 2) refuse("must be an object");
    if (depth_ > 2 || in_metadata_ || member_ == Member::dtype) begin_container();
    numbers_.clear();
    ++depth_;
    return true;
  }
  bool end_array() {
    if (--depth_ != 2) return true;
    if (member_ == Member::shape) entry_.shape = numbers_;
    if (member_ != Member::offsets) return true;
    if (numbers_.size() != 2) refuse("data_offsets must be a list of two numbers");
    entry_.begin = static_cast<std::uint64_t>(numbers_[0]);
    entry_.end = static_cast<std::uint64_t>(numbers_[1]);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) {
    return false;
  }

 private:
  enum class Member { other, dtype, shape, offsets };
  static constexpr auto replace_bad = nlohmann::json::error_handler_t::replace;

  [[noreturn]] void refuse(const std::string& why) const {
    if (name_ == metadata_key) throw Error(cat(metadata_key, " ", why));
    throw Error(cat("tensor \"", name_, "\": ", why));
  }
  bool in_numbers() const {
    return depth_ == 3 && !in_metadata_ && (member_ == Member::shape || member_ == Member::offsets);
  }

  // Refuses a value of the wrong type. A value of an unknown member is ignored.
  bool other_value(const std::string& text) const {
    const char* const number = " must be a whole number of 0 or more, but is ";
    if (depth_ < 2) refuse("must be an object");
    if (in_metadata_) refuse_metadata();
    if (depth_ == 2 && member_ == Member::dtype) refuse("dtype must be a text");
    if (depth_ == 2 && member_ == Member::shape) refuse("shape must be a list");
    if (depth_ == 2 && member_ == Member::offsets)
      refuse("data_offsets must be a list of two numbers");
    if (in_numbers())
      refuse(cat(member_ == Member::shape ? "shape" : "data_offsets", number, text));
    return true;
  }
  // A list or an object within an entry is allowed only in members that are not read.
  void begin_container() const {
    if (in_metadata_ || member_ != Member::other) other_value("a list or an object");
  }
  [[noreturn]] void refuse_metadata() const {
    throw Error(cat(metadata_key, ": \"", metadata_name_, "\" must be a text"));
  }

  void begin_entry() {
    in_metadata_ = name_ == metadata_key;
    if (in_metadata_ && std::exchange(has_metadata_, true))
      throw Error(cat(metadata_key, " is there twice"));
    entry_ = {.name = in_metadata_ ? "" : name_, .dtype = {}};
    has_ = {};
    member_ = Member::other;
  }
  void begin_member(const std::string& name) {
    member_ = name == "dtype"          ? Member::dtype
              : name == "shape"        ? Member::shape
              : name == "data_offsets" ? Member::offsets
                                       : Member::other;
    has_[static_cast<std::size_t>(member_)] = true;
  }
  void end_entry() {
    for (const auto& [member, name] : {std::pair(Member::dtype, "dtype"),
                                       {Member::shape, "shape"},
                                       {Member::offsets, "data_offsets"}})
      if (!has_[static_cast<std::size_t>(member)]) refuse(cat(name, " is missing"));
    if (entry_.end < entry_.begin) refuse("ends before it begins");
    const std::optional<std::uint64_t> bytes = tensor_bytes(entry_);
    if (!bytes || *bytes != entry_.end - entry_.begin)
      refuse(cat("has ", entry_.end - entry_.begin, " bytes, but its shape and dtype make ",
                 bytes ? cat(*bytes) : "more than 64 bits can count"));
    header_.tensors.push_back(std::move(entry_));
  }

  SafetensorsHeader& header_;
  int depth_ = 0;  // number of open lists and objects
  std::string name_, metadata_name_;
  bool in_metadata_ = false, has_metadata_ = false;
  TensorEntry entry_;
  std::array<bool, 4> has_{};  // indexed by Member
  Member member_ = Member::other;
  std::vector<std::int64_t> numbers_;  // numbers of the open list
};

void check_names(const std::vector<TensorEntry>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorEntry& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw Error(cat("tensor \"", *twice, "\" is there twice"));
}

// Checks that the tensors cover the data section exactly, one after the other.
void check_layout(std::vector<TensorEntry>& tensors, std::uint64_t data_bytes) {
  const auto lies_before = [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  };
  if (!std::is_sorted(tensors.begin(), tensors.end(), lies_before))
    std::sort(tensors.begin(), tensors.end(), lies_before);
  std::uint64_t end = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.begin < end)
      throw Error(cat("tensor \"", tensor.name, "\" overlaps the one before it"));
    if (tensor.begin > end)
      throw Error(cat("there is a hole of ", tensor.begin - end, " bytes before tensor \"",
                      tensor.name, "\""));
    end = tensor.end;
  }
  if (end != data_bytes)
    throw Error(cat("the tensors need ", end, " bytes of data, but the file has ", data_bytes));
}

SafetensorsHeader parse_header(const std::string& text, std::uint64_t data_bytes) {
  if (text.empty() || text.front() != '{') throw Error("the header must begin with {");
  if (too_deep(text)) throw Error("the header is not JSON of a few levels");
  SafetensorsHeader header;
  HeaderParser parser(header);
  if (!nlohmann::json::sax_parse(text, &parser)) throw Error("the header is not JSON");
  check_names(header.tensors);
  check_layout(header.tensors, data_bytes);
  header.data_start = 8 + text.size();
  return header;
}

std::string read_header_text(std::istream& file, std::uint64_t file_bytes) {
  unsigned char raw[8] = {};
  if (file_bytes < 8 || !file.read(reinterpret_cast<char*>(raw), 8))
    throw Error(cat("it has only ", file_bytes, " bytes"));
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | raw[i];
  if (length > max_header_bytes)
    throw Error(cat("its header would have ", length, " bytes; the limit is ", max_header_bytes));
  if (length > file_bytes - 8)
    throw Error(
        cat("its header should have ", length, " bytes, but the file ends after ", file_bytes - 8));
  std::string text(length, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(length)))
    throw Error("its header cannot be read");
  return text;
}

}  // namespace

std::uint64_t dtype_bytes(const std::string& dtype) {
  for (const auto& [name, bytes] : dtypes)
    if (name == dtype) return bytes;
  throw Error(cat("dtype \"", dtype, "\" is not one that can be read"));
}

std::string make_header(std::vector<TensorEntry>& entries,
                        const std::map<std::string, std::string>& metadata) {
  std::string text = "{";
  if (!metadata.empty())
    text += cat('"', metadata_key, "\":", nlohmann::json(metadata).dump(), ',');
  std::set<std::string> names = {metadata_key};
  std::uint64_t offset = 0;
  for (TensorEntry& entry : entries) {
    const std::optional<std::uint64_t> bytes = tensor_bytes(entry);
    LOCKSTEP_CHECK(bytes);
    LOCKSTEP_CHECK(names.insert(entry.name).second);
    entry.begin = offset;
    entry.end = offset += *bytes;
    const nlohmann::json value = {
        {"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
    text += cat(nlohmann::json(entry.name).dump(), ':', value.dump(), ',');
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');
  LOCKSTEP_CHECK(text.size() <= max_header_bytes);
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text;
}

SafetensorsHeader read_header(std::istream& file, std::uint64_t file_bytes) {
  const std::string text = read_header_text(file, file_bytes);
  return parse_header(text, file_bytes - 8 - text.size());
}

SafetensorsHeader read_header(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  if (error) throw Error(cat("cannot read ", path.string(), ": ", error.message()));
  open_regular_file(path);  // throws Error if it is not a regular file
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(cat("cannot read ", path.string(), ": ", errno_text(errno)));
  try {
    return read_header(file, file_bytes);
  } catch (const Error& problem) {
    throw Error(cat(path.string(), " is not a good safetensors file: ", problem.what()),
                "use another copy of the file, or an older checkpoint");
  }
}

}  // namespace lockstep
