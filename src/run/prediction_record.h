// What `lockstep predict` has made, written down in the folder of outputs, so that a command that
// was killed can go on.
#pragma once

#include "base/fd.h"
#include "plan/predict_items.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

class Beneath;

// A hidden folder in the folder of outputs. Each command that makes something has a file in it,
// which is only appended to, and a folder FILE.held for outputs that wait for their turn.
inline constexpr const char* records_name = ".lockstep-predictions";

// An output as it was written: enough to tell whether a file is still that.
struct OutputStamp {
  std::string name;  // below the folder of outputs
  std::string held;  // where it waits for that name, likewise; "": it does not
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string hash;  // XXH3-128
};
// Of a file, which is on the disk when this returns. Throws Error.
OutputStamp stamp_output(const std::filesystem::path& file, const std::string& name);
// Whether this file of the folder has that time, or those bytes: copies have another time.
bool is_unchanged(const Beneath& folder, const std::string& file, const OutputStamp& output);

// By which an item is known: its id, text and output, and of the file or folder that it is read
// from size and time. Not its path: data may be copied elsewhere, with its times.
std::string item_key(const PredictItem& item);
std::string list_key(const std::vector<std::string>& item_keys);  // of a whole list

struct RecordedItem {
  std::string key, id;
  std::vector<OutputStamp> files{};
  std::string bytes{};    // for the writer of joint outputs, unless they are those of a file …
  bool in_file = false;   // … the first
  std::string fault{};    // why it was skipped
  std::string warning{};  // ItemOutput::warning
};
using RecordedPart = std::vector<RecordedItem>;  // what was predicted at once

// The first line: what the command makes.
struct RecordHead {
  nlohmann::json identity;  // all that decides the bytes; equal for commands that may go on
  std::string list;         // list_key of its items
  std::string device;       // "NVIDIA H200": the kind, which may round differently
  bool replaces = false;    // outputs that are there already
};

struct RecordPlace {
  std::int64_t offset = 0, bytes = 0;  // of a line
};

// One command's file. It is in use for as long as any process has one of these.
class RecordWriter {
 public:
  static RecordWriter create(const std::filesystem::path& folder, const RecordHead& head);
  static RecordWriter open(const std::filesystem::path& file);
  const std::filesystem::path& path() const { return path_; }

  // All are on the disk when they return. Throw Error.
  RecordPlace add(const RecordedPart& part);
  void add_joint(const std::vector<OutputStamp>& files);    // made of all items; the last line
  void add_partial(const std::vector<OutputStamp>& files);  // NAME.partial

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
    RecordedPart items;  // without their bytes
    RecordPlace place;
  };
  std::vector<Part> parts{};
  std::optional<std::vector<OutputStamp>> joint{};
  std::vector<OutputStamp> partial{};
};

// Of a folder of outputs, oldest first. Damaged lines count for nothing, nor do records of other
// versions.
std::vector<PredictionRecord> read_records(const std::filesystem::path& folder);
RecordedPart read_part(const std::filesystem::path& file, const RecordPlace& place);

// Where outputs of this record wait for their names, made if need be. Throws Error.
std::filesystem::path make_held_folder(const std::filesystem::path& record);
void remove_held_folder(const std::filesystem::path& record);
void remove_record(const std::filesystem::path& record);

}  // namespace lockstep
