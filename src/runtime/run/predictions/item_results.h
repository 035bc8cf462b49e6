// Passes the results of predicted items from all ranks to rank 0, through files in a shared folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct ItemResult {
  std::string bytes{};
  // The files of the result: the path of each file, and its final name below the output folder. A
  // file with an empty name is removed.
  std::vector<std::pair<std::filesystem::path, std::string>> files{};
  std::string fault{};  // why the item was skipped; empty if it was not
  // Whether `bytes` are stored in the first of `files`, which belongs to this item alone.
  bool in_file = false;
  std::string warning{};  // ItemOutput::warning
  // the item was not begun, because it would not have finished within the time limit
  bool left = false;
};

// Stores results in parts. A part has the results of consecutive items. Parts are numbered from 0
// in input order. One rank writes each part. Rank 0 takes each part once, in any order.
class ItemResults {
 public:
  explicit ItemResults(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Writes a part. Throws Error if that fails, for example because the disk is full.
  void write(std::int64_t part, const std::vector<ItemResult>& results) const;
  std::vector<std::int64_t> ready() const;  // parts that can be taken, ascending
  // returns and removes a part; throws Error if it cannot be read
  std::vector<ItemResult> take(std::int64_t part) const;

 private:
  std::filesystem::path file_of(std::int64_t part) const;
  std::filesystem::path folder_;
};

}  // namespace lockstep
