// The tables and pictures of an evaluation. They are kept in memory until rank 0 writes them into
// the run.
#pragma once

#include "runtime/run/predictions/item_table.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {

struct OutputLimits {
  std::int64_t pictures = 64;      // number of pictures; the first in order of samples are kept
  std::int64_t rows = 100'000;     // number of rows of each table; the first are kept
  std::int64_t bytes = 256 << 20;  // bytes of all files together
};

// The files of one evaluation. A recipe adds files while it evaluates, on any rank. Rank 0 merges
// the files of all ranks in the order of samples. So the number of ranks does not change which
// files are kept. No function throws. A file that cannot be kept is left out, and a line in
// `problems` says why. Not thread-safe.
class EvaluationOutput {
 public:
  struct File {
    std::string name;
    std::string bytes;
    bool picture = false;
  };

  // step: finished steps of the weights. mark: a suffix of the folder names, for an evaluation
  // outside training. It must be valid in a file name.
  EvaluationOutput(std::filesystem::path run_dir, std::int64_t step, OutputLimits limits = {},
                   std::string mark = {});

  const std::filesystem::path& run_dir() const { return run_dir_; }
  std::int64_t step() const { return step_; }  // finished steps of the weights
  std::string folder_name() const;             // step-000001234[-MARK]
  std::filesystem::path folder() const;        // RUN/evaluations/step-000001234[-MARK]
  std::filesystem::path media_folder() const;  // RUN/media/step-000001234[-MARK]

  // Adds the picture RUN/media/step-N/NAME.EXTENSION. bytes: the encoded file. The file name must
  // have at most 120 bytes, no '/', no control characters and no leading '.'. `name` must identify
  // the sample and not the rank, because a second file of the same name is left out.
  void picture(const std::string& name, const std::string& extension, std::string bytes);
  // The same, but calls `encode` for the bytes, and only if the limit on pictures allows one more.
  void picture(const std::string& name, const std::string& extension,
               const std::function<std::string()>& encode);
  // Adds the table as RUN/evaluations/step-N/NAME.csv and NAME.json.
  void table(const std::string& name, const ItemTable& table);

  // Sets the table with one row per item, which Recipe::items makes.
  void set_items(ItemTable items);
  const ItemTable& items() const { return items_; }

  const std::vector<File>& files() const { return files_; }
  const std::vector<std::string>& problems() const { return problems_; }
  void problem(std::string text);  // adds a line to `problems`; only the first few are kept
  bool empty() const { return files_.empty() && items_.empty(); }
  void clear();

  // These two functions are for the engine, not for recipes. packed() returns the files and
  // problems as bytes. add_packed() adds the files and problems in the bytes of another rank.
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

// Writes the tables and pictures into their folders. Writes the table of items as `items.csv` and
// `items.json`, and the text `metrics` as `metrics.json`. Each folder is written completely or not
// at all, and replaces an older folder of that step. Returns one line per problem, such as a full
// disk. Never throws.
std::vector<std::string> write_output(const EvaluationOutput& output, const std::string& metrics);

// Whether RUN/evaluations/step-N/metrics.json of that step has "best": true.
bool was_best_output(const std::filesystem::path& run_dir, std::int64_t step);

// Removes the folders of evaluations and pictures of old steps. Keeps the newest `keep` steps, and
// the newest step for which was_best_output is true. Folders with a mark also stay. Failures are
// ignored.
void prune_outputs(const std::filesystem::path& run_dir, std::int64_t keep);

}  // namespace lockstep
