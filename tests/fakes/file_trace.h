// What a program did to files: one record a call, as fakes/watched_files.cpp writes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::testing {

enum class FileCall : std::uint32_t {
  create,
  make_folder,
  write,
  truncate,
  sync,
  rename,
  exchange,
  remove,
  sync_all
};

struct FileRecord {
  FileCall call = FileCall::create;
  std::uint64_t offset = 0;  // of a write; the new size of a truncation
  std::string path, other;   // other: where a rename leads
  std::string data;

  std::string to_bytes() const {
    std::string bytes;
    const auto add = [&](std::uint64_t value) {
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    add(static_cast<std::uint64_t>(call));
    add(offset);
    for (const std::string* text : {&path, &other, &data}) add(text->size());
    return bytes + path + other + data;
  }
};

inline std::vector<FileRecord> read_trace(std::string_view bytes) {
  std::vector<FileRecord> records;
  const auto number = [&] {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return value;
  };
  while (!bytes.empty()) {
    FileRecord record;
    record.call = static_cast<FileCall>(number());
    record.offset = number();
    const std::uint64_t sizes[] = {number(), number(), number()};
    std::size_t i = 0;
    for (std::string* text : {&record.path, &record.other, &record.data}) {
      *text = bytes.substr(0, sizes[i]);
      bytes.remove_prefix(sizes[i++]);
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace lockstep::testing
