// The manifest of a checkpoint: its files with their sizes and checksums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep {

inline constexpr const char* manifest_name = "manifest.json";

struct FileRecord {
  std::uint64_t bytes = 0;
  std::string checksum;  // XXH3-128
};

struct Manifest {
  std::int64_t step = 0;
  double time = 0;  // unix seconds
  nlohmann::json metrics = nullptr;
  std::map<std::string, FileRecord> files{};
};

// The text contains its own checksum, so that every changed byte is detected.
std::string to_text(const Manifest& manifest);
// The text of any object, with such a checksum.
std::string sealed(nlohmann::json object);
// Throws Error that describes the fault of the text in a few words.
Manifest parse_manifest(const std::string& text);

// Describes the damage of the files that the manifest names; empty if there is none. thorough: also
// reads the files and compares checksums.
std::string damage_of_files(const std::filesystem::path& folder, const Manifest& manifest,
                            bool thorough);

}  // namespace lockstep
