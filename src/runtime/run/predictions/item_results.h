// Passes the ranks' results of items to rank 0, through files in a folder that all ranks see.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct ItemResult {
  std::string bytes{};
  // The paths of files that become outputs, and their names below the output folder. A file with an
  // empty name is removed.
  std::vector<std::pair<std::filesystem::path, std::string>> files{};
  std::string fault{};  // why the item was skipped; empty if it was not
  // Whether `bytes` are stored in the first of `files`, which belongs to this item alone.
  bool in_file = false;
  std::string warning{};  // ItemOutput::warning
  bool left = false;      // the item was not begun, because it would not have finished in time
};

// Stores results in parts. A part is the results of consecutive items. Parts are numbered from 0 in
// input order. Each part is written by one process. Rank 0 takes each part once, in any order.
class ItemResults {
 public:
  explicit ItemResults(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Throws Error, for example if the disk is full.
  void write(std::int64_t part, const std::vector<ItemResult>& results) const;
  std::vector<std::int64_t> ready() const;                // parts that can be taken, ascending
  std::vector<ItemResult> take(std::int64_t part) const;  // throws Error

 private:
  std::filesystem::path file_of(std::int64_t part) const;
  std::filesystem::path folder_;
};

}  // namespace lockstep
