// Records the outputs that `lockstep predict` has made. The records are kept in the output folder,
// so that a later command can resume the work of a command that was killed.
#pragma once

#include "core/base/files/fd.h"
#include "planning/order/predict_items.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

class Beneath;

// The hidden folder for records in the output folder. Each command that makes outputs has an
// append-only file FILE in this folder. It also has a folder FILE.held, for outputs that do not
// have their final names yet.
inline constexpr const char* records_name = ".lockstep-predictions";

// Describes an output as it was written, so that a later command can tell whether the file has
// changed.
struct OutputStamp {
  std::string name;  // its final path, relative to the output folder
  // its temporary path, relative to the same folder; empty once it has its final name
  std::string held;
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string hash;  // XXH3-128
};
// Makes a file durable with fsync, and returns its stamp with this `name`. Throws Error if the file
// cannot be read or synced.
OutputStamp stamp_output(const std::filesystem::path& file, const std::string& name);
// Whether this file is as recorded: its size is equal, and so is its modification time or its hash.
// The hash is needed because a copied file may have another time.
bool is_unchanged(const Beneath& folder, const std::string& file, const OutputStamp& output);

// Returns a hash that identifies an item. It covers the item's id, its text, the name of its
// output, and the size and modification time of its input files. It does not cover their paths, so
// it stays the same if data is copied elsewhere with its times.
std::string item_key(const PredictItem& item);
// Returns a hash that identifies a list of items.
std::string list_key(const std::vector<std::string>& item_keys);

struct RecordedItem {
  std::string key, id;
  std::vector<OutputStamp> files{};
  std::string bytes{};    // the item's bytes for outputs that combine all items; empty if in_file
  bool in_file = false;   // these bytes are in the first of `files` instead
  std::string fault{};    // why the item was skipped; empty if it was not
  std::string warning{};  // ItemOutput::warning
};
using RecordedPart = std::vector<RecordedItem>;  // items that were predicted together

// The first line of a record. It describes the command that writes the record.
struct RecordHead {
  // All options and data that determine the bytes of the outputs. A command resumes only from a
  // record with an equal identity.
  nlohmann::json identity;
  std::string list;  // list_key of the items
  // "NVIDIA H200"; recorded because different kinds of devices may round differently
  std::string device;
  bool replaces = false;  // the command may replace existing outputs
};

struct RecordPlace {
  std::int64_t offset = 0, bytes = 0;  // where a line lies in the file
};

// Writes the record of one command. While a process has a RecordWriter for a record, other commands
// find that the record is in use.
class RecordWriter {
 public:
  static RecordWriter create(const std::filesystem::path& folder, const RecordHead& head);
  static RecordWriter open(const std::filesystem::path& file);
  const std::filesystem::path& path() const { return path_; }

  // Each add function appends a line, and returns once that line is durable. They throw Error if
  // that fails.
  RecordPlace add(const RecordedPart& part);
  // The last line: the outputs that combine all items.
  void add_joint(const std::vector<OutputStamp>& files);
  void add_partial(const std::vector<OutputStamp>& files);  // unfinished outputs NAME.partial

 private:
  RecordWriter(std::filesystem::path path, UniqueFd fd);
  RecordPlace append(const nlohmann::json& line);
  std::filesystem::path path_;
  UniqueFd fd_;
};

struct PredictionRecord {
  std::filesystem::path file;
  RecordHead head;
  bool in_use = false;
  struct Part {
    RecordedPart items;  // RecordedItem::bytes is left empty
    RecordPlace place;
  };
  std::vector<Part> parts{};
  std::optional<std::vector<OutputStamp>> joint{};
  std::vector<OutputStamp> partial{};
};

// Reads the records in an output folder, oldest first. Damaged lines and records of other versions
// are ignored.
std::vector<PredictionRecord> read_records(const std::filesystem::path& folder);
// Reads one part of a record, including the `bytes` of its items. Throws Error if the file has
// changed.
RecordedPart read_part(const std::filesystem::path& file, const RecordPlace& place);

// Returns the folder FILE.held of this record, where outputs wait for their final names. Creates
// the folder if needed. Throws Error if that fails.
std::filesystem::path make_held_folder(const std::filesystem::path& record);
void remove_held_folder(const std::filesystem::path& record);
void remove_record(const std::filesystem::path& record);

}  // namespace lockstep
