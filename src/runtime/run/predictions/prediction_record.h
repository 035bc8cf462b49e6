// Records the outputs that `lockstep predict` has made. The records lie in the output folder, so
// that a later command can resume after a kill.
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
// append-only file FILE in it. It also has a folder FILE.held, for outputs that do not have their
// final name yet.
inline constexpr const char* records_name = ".lockstep-predictions";

// An output as it was written. It has enough data to find out whether a file is still the same.
struct OutputStamp {
  std::string name;  // its path below the output folder
  std::string held;  // its temporary name below that folder; empty once it has its final name
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string hash;  // XXH3-128
};
// Makes a file durable with fsync and returns its stamp. Throws Error.
OutputStamp stamp_output(const std::filesystem::path& file, const std::string& name);
// Whether this file is as recorded: the size is equal, and so is the time or the hash. The hash is
// compared because copies have another time.
bool is_unchanged(const Beneath& folder, const std::string& file, const OutputStamp& output);

// A key that identifies an item. It covers the id, the text, the output's name, and size and time
// of the input files. It does not cover their paths, because data may be copied elsewhere with its
// times.
std::string item_key(const PredictItem& item);
// the key of a whole list of items
std::string list_key(const std::vector<std::string>& item_keys);

struct RecordedItem {
  std::string key, id;
  std::vector<OutputStamp> files{};
  std::string bytes{};    // bytes for outputs that combine all items; empty if in_file
  bool in_file = false;   // these bytes are in the first of `files`
  std::string fault{};    // why the item was skipped; empty if it was not
  std::string warning{};  // ItemOutput::warning
};
using RecordedPart = std::vector<RecordedItem>;  // items that were predicted together

// The first line of a record: what the command makes.
struct RecordHead {
  // everything that decides the bytes of outputs; a command resumes only from a record with an
  // equal identity
  nlohmann::json identity;
  std::string list;       // list_key of the items
  std::string device;     // "NVIDIA H200"; recorded because kinds of devices may round differently
  bool replaces = false;  // the command may replace existing outputs
};

struct RecordPlace {
  std::int64_t offset = 0, bytes = 0;  // the place of a line in the file
};

// Writes the record of one command. The record is in use as long as a process holds such an object
// for it.
class RecordWriter {
 public:
  static RecordWriter create(const std::filesystem::path& folder, const RecordHead& head);
  static RecordWriter open(const std::filesystem::path& file);
  const std::filesystem::path& path() const { return path_; }

  // The add functions return once the record is durable. They throw Error.
  RecordPlace add(const RecordedPart& part);
  // outputs that combine all items; the last line
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
    RecordedPart items;  // `bytes` of these items are left empty
    RecordPlace place;
  };
  std::vector<Part> parts{};
  std::optional<std::vector<OutputStamp>> joint{};
  std::vector<OutputStamp> partial{};
};

// Reads the records in an output folder, oldest first. Damaged lines and records of other versions
// are ignored.
std::vector<PredictionRecord> read_records(const std::filesystem::path& folder);
RecordedPart read_part(const std::filesystem::path& file, const RecordPlace& place);

// Returns the folder where outputs of this record wait for their final names, and creates it if
// needed. Throws Error.
std::filesystem::path make_held_folder(const std::filesystem::path& record);
void remove_held_folder(const std::filesystem::path& record);
void remove_record(const std::filesystem::path& record);

}  // namespace lockstep
