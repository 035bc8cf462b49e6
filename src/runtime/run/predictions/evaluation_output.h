// Tables and pictures that an evaluation leaves in its run beside the metrics. They are kept in
// memory until one rank writes them.
#pragma once

#include "runtime/run/predictions/item_table.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {

struct OutputLimits {
  std::int64_t pictures = 64;      // the most of an evaluation; the first in order of the samples
                                   // are kept
  std::int64_t rows = 100'000;     // the most of each table; the first are kept
  std::int64_t bytes = 256 << 20;  // the most of all files of an evaluation together
};

// A recipe adds files while it evaluates, on any rank. Rank 0 merges the ranks' files in the order
// of the samples, so the same ones are kept on any number of ranks. Nothing here throws: files that
// cannot be kept are left out and listed in `problems`. One thread.
class EvaluationOutput {
 public:
  struct File {
    std::string name;
    std::string bytes;
    bool picture = false;
  };

  // mark: a part of the folder names of an evaluation outside training; must be valid in a file
  // name.
  EvaluationOutput(std::filesystem::path run_dir, std::int64_t step, OutputLimits limits = {},
                   std::string mark = {});

  const std::filesystem::path& run_dir() const { return run_dir_; }
  std::int64_t step() const { return step_; }  // finished steps of the weights
  std::string folder_name() const;             // step-000001234[-MARK]
  std::filesystem::path folder() const;        // RUN/evaluations/step-000001234[-MARK]
  std::filesystem::path media_folder() const;  // RUN/media/step-000001234[-MARK]

  // RUN/media/step-N/NAME.EXTENSION; `bytes` is the encoded file. name: a file name without '/',
  // control characters or a leading '.', at most 120 bytes. It must identify the sample (and not
  // the rank), because a second file of that name is left out.
  void picture(const std::string& name, const std::string& extension, std::string bytes);
  // Calls `encode` only for a picture that will be kept.
  void picture(const std::string& name, const std::string& extension,
               const std::function<std::string()>& encode);
  // RUN/evaluations/step-N/NAME.csv and NAME.json.
  void table(const std::string& name, const ItemTable& table);

  // The table of items, made by Recipe::items.
  void set_items(ItemTable items);
  const ItemTable& items() const { return items_; }

  const std::vector<File>& files() const { return files_; }
  const std::vector<std::string>& problems() const { return problems_; }
  void problem(std::string text);  // a line; the first few are kept
  bool empty() const { return files_.empty() && items_.empty(); }
  void clear();

  // For the engine: packed() returns the files as bytes, and add_packed() adds those of another
  // rank.
  std::string packed() const;
  void add_packed(const std::string& bytes);

 private:
  bool has_room(const std::string& name, bool picture);
  void add(File file);

  std::filesystem::path run_dir_;
  std::int64_t step_;
  std::string mark_;
  OutputLimits limits_;
  ItemTable items_;
  std::vector<File> files_;
  std::vector<std::string> problems_;
  std::int64_t pictures_ = 0, bytes_ = 0;
};

// Writes the files, `items.csv`, `items.json` and `metrics.json` (this text) into their folders.
// Each folder is written whole or not at all and replaces an older one of that step. Returns a line
// for each failure (a full disk, a read-only run); never throws.
std::vector<std::string> write_output(const EvaluationOutput& output, const std::string& metrics);

// Whether metrics.json of that step has "best": true.
bool was_best_output(const std::filesystem::path& run_dir, std::int64_t step);

// Removes the folders of all steps but the newest `keep` ones and the newest whose metrics.json has
// "best": true. Folders with a mark stay. Failures are ignored.
void prune_outputs(const std::filesystem::path& run_dir, std::int64_t keep);

}  // namespace lockstep
