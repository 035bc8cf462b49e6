// The safetensors format: an 8-byte little-endian header length, a JSON header, and raw tensors.
// Source: huggingface/safetensors README, "Format".
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace lockstep {

struct TensorEntry {
  std::string name;
  std::string dtype;  // "F64", "F32", "F16", "BF16", "I64", "I32", "U8", "BOOL", …
  std::vector<std::int64_t> shape{};
  std::uint64_t begin = 0, end = 0;  // bytes from the start of the data section
};

// Bytes of one element. Throws Error for a dtype that the format does not have.
std::uint64_t dtype_bytes(const std::string& dtype);

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;             // in file order
  std::map<std::string, std::string> metadata;  // "__metadata__"
  std::uint64_t data_start = 0;                 // offset of the data section in the file
};

// Returns the header with its length in front, padded with spaces to a multiple of 8 bytes. Sets
// `begin` and `end` of the entries, so that the tensors follow each other without gaps.
std::string make_header(std::vector<TensorEntry>& entries,
                        const std::map<std::string, std::string>& metadata);

// Reads and checks the header. Throws Error for any fault in the format: wrong sizes, overlaps,
// gaps, trailing bytes, repeated names.
SafetensorsHeader read_header(const std::filesystem::path& file);
// The same for an open file of `file_bytes` bytes. The Error does not name the file.
SafetensorsHeader read_header(std::istream& file, std::uint64_t file_bytes);

}  // namespace lockstep
