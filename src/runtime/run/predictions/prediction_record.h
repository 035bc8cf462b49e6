// Records of the outputs that `lockstep predict` made, in the output folder, so that a command can
// resume after a kill.
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

// A hidden folder in the output folder. Each command that makes outputs has an append-only file in
// it, and a folder FILE.held for outputs that wait for their turn.
inline constexpr const char* records_name = ".lockstep-predictions";

// An output as it was written, with enough data to tell whether a file is still the same.
struct OutputStamp {
  std::string name;  // below the folder of outputs
  std::string held;  // temporary name while it waits, also below that folder; "" if it does not
                     // wait
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string hash;  // XXH3-128
};
// Stamps a file, which is on the disk when this returns. Throws Error.
OutputStamp stamp_output(const std::filesystem::path& file, const std::string& name);
// Whether this file has the recorded size, and the recorded time or hash: copies have another time.
bool is_unchanged(const Beneath& folder, const std::string& file, const OutputStamp& output);

// Identifies an item by its id, text and output, and by size and time of the file or folder it is
// read from. The path does not count: data may be copied elsewhere, with its times.
std::string item_key(const PredictItem& item);
std::string list_key(const std::vector<std::string>& item_keys);  // key of a whole list

struct RecordedItem {
  std::string key, id;
  std::vector<OutputStamp> files{};
  std::string bytes{};    // for the writer of joint outputs, unless in_file
  bool in_file = false;   // the bytes are those of the first file
  std::string fault{};    // why the item was skipped
  std::string warning{};  // ItemOutput::warning
};
using RecordedPart = std::vector<RecordedItem>;  // items that were predicted at once

// The first line: what the command makes.
struct RecordHead {
  nlohmann::json identity;  // all that decides the bytes; a command may resume only from an equal
                            // one
  std::string list;         // list_key of its items
  std::string device;       // "NVIDIA H200": kinds may round differently
  bool replaces = false;    // may replace outputs that exist already
};

struct RecordPlace {
  std::int64_t offset = 0, bytes = 0;  // place of a line
};

// One command's file. It counts as in use while any process has such an object.
class RecordWriter {
 public:
  static RecordWriter create(const std::filesystem::path& folder, const RecordHead& head);
  static RecordWriter open(const std::filesystem::path& file);
  const std::filesystem::path& path() const { return path_; }

  // The records are on the disk when these return. They throw Error.
  RecordPlace add(const RecordedPart& part);
  void add_joint(const std::vector<OutputStamp>& files);    // outputs made of all items; the last
                                                            // line
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

// Records in an output folder, oldest first. Damaged lines and records of other versions are
// ignored.
std::vector<PredictionRecord> read_records(const std::filesystem::path& folder);
RecordedPart read_part(const std::filesystem::path& file, const RecordPlace& place);

// The folder where outputs of this record wait for their names, created if needed. Throws Error.
std::filesystem::path make_held_folder(const std::filesystem::path& record);
void remove_held_folder(const std::filesystem::path& record);
void remove_record(const std::filesystem::path& record);

}  // namespace lockstep
