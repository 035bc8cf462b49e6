// Writes and checks safetensors headers.
#include "run/safetensors.h"

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

#include "base/check.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace lockstep {
namespace {

constexpr std::uint64_t max_header_bytes = 100'000'000;  // the reference implementation's limit
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

// shape x dtype in bytes; nothing if that does not fit into 64 bits.
std::optional<std::uint64_t> tensor_bytes(const TensorEntry& entry) {
  std::uint64_t bytes = dtype_bytes(entry.dtype);
  for (std::int64_t size : entry.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
      return std::nullopt;
  return bytes;
}

std::uint64_t whole_number(const nlohmann::json& value, const std::string& what) {
  if (!value.is_number_integer() ||
      (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) ||
      value.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Error(cat(what, " must be a whole number of 0 or more, but is ", value.dump()));
  return value.get<std::uint64_t>();
}

TensorEntry parse_entry(const std::string& name, const nlohmann::json& value) {
  const std::string who = cat("tensor \"", name, "\": ");
  if (!value.is_object()) throw Error(cat(who, "must be an object"));
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!value.contains(key)) throw Error(cat(who, key, " is missing"));
  if (!value["dtype"].is_string()) throw Error(cat(who, "dtype must be a text"));
  if (!value["shape"].is_array()) throw Error(cat(who, "shape must be a list"));
  const nlohmann::json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2)
    throw Error(cat(who, "data_offsets must be a list of two numbers"));
  TensorEntry entry{.name = name, .dtype = value["dtype"].get<std::string>(), .shape = {}};
  for (const nlohmann::json& size : value["shape"])
    entry.shape.push_back(static_cast<std::int64_t>(whole_number(size, who + "shape")));
  entry.begin = whole_number(offsets[0], who + "data_offsets");
  entry.end = whole_number(offsets[1], who + "data_offsets");
  if (entry.end < entry.begin) throw Error(cat(who, "ends before it begins"));
  const std::optional<std::uint64_t> bytes = tensor_bytes(entry);
  if (!bytes || *bytes != entry.end - entry.begin)
    throw Error(cat(who, "has ", entry.end - entry.begin, " bytes, but its shape and dtype make ",
                    bytes ? cat(*bytes) : "more than 64 bits can count"));
  return entry;
}

std::map<std::string, std::string> parse_metadata(const nlohmann::json& value) {
  if (!value.is_object()) throw Error(cat(metadata_key, " must be an object"));
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) throw Error(cat(metadata_key, ": \"", key, "\" must be a text"));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// Tensors must cover the data section exactly, one after the other.
void check_layout(std::vector<TensorEntry>& tensors, std::uint64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
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

nlohmann::json parse_json(const std::string& text) {
  if (text.empty() || text.front() != '{') throw Error("the header must begin with {");
  if (too_deep(text)) throw Error("the header is not JSON of a few levels");
  std::set<std::string> names;
  std::string twice;
  const auto watch_names = [&](int depth, nlohmann::json::parse_event_t event,
                               nlohmann::json& parsed) {
    if (depth == 1 && event == nlohmann::json::parse_event_t::key &&
        !names.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  nlohmann::json header = nlohmann::json::parse(text, watch_names, false);
  if (!header.is_object()) throw Error("the header is not JSON");
  if (!twice.empty()) throw Error(cat("tensor \"", twice, "\" is there twice"));
  return header;
}

SafetensorsHeader parse_header(const std::string& text, std::uint64_t data_bytes) {
  SafetensorsHeader header;
  const nlohmann::json parsed = parse_json(text);
  for (const auto& [name, value] : parsed.items()) {
    if (name == metadata_key)
      header.metadata = parse_metadata(value);
    else
      header.tensors.push_back(parse_entry(name, value));
  }
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
