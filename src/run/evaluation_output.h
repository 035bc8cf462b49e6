// What an evaluation leaves in its run beside the metrics: tables and pictures, kept in memory
// until one rank writes them.
#pragma once

#include "run/item_table.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {

struct OutputLimits {
  std::int64_t pictures = 64;      // of an evaluation, the first in order of the samples
  std::int64_t rows = 100'000;     // of each table, the first
  std::int64_t bytes = 256 << 20;  // of all files of an evaluation together
};

// A recipe adds files while it evaluates, on any rank; the ranks' files come to rank 0 in the order
// of the samples, so that the same ones are kept on any number of ranks. Nothing here throws: what
// cannot be kept is left out, and `problems` says so. One thread.
class EvaluationOutput {
 public:
  struct File {
    std::string name;
    std::string bytes;
    bool picture = false;
  };

  // mark: of an evaluation that is none of the training's, in the names of its folders; a part of a
  // file's name.
  EvaluationOutput(std::filesystem::path run_dir, std::int64_t step, OutputLimits limits = {},
                   std::string mark = {});

  const std::filesystem::path& run_dir() const { return run_dir_; }
  std::int64_t step() const { return step_; }  // finished steps of the weights
  std::string folder_name() const;             // step-000001234[-MARK]
  std::filesystem::path folder() const;        // RUN/evaluations/step-000001234[-MARK]
  std::filesystem::path media_folder() const;  // RUN/media/step-000001234[-MARK]

  // RUN/media/step-N/NAME.EXTENSION; `bytes` is the encoded file. A name is one of a file: no '/',
  // no control character, no '.' in front, at most 120 bytes. It must tell the sample (and not the
  // rank), because a second file of a name is left out.
  void picture(const std::string& name, const std::string& extension, std::string bytes);
  // Encodes only what will be kept.
  void picture(const std::string& name, const std::string& extension,
               const std::function<std::string()>& encode);
  // RUN/evaluations/step-N/NAME.csv and NAME.json.
  void table(const std::string& name, const ItemTable& table);

  // The table of items, which Recipe::items made.
  void set_items(ItemTable items);
  const ItemTable& items() const { return items_; }

  const std::vector<File>& files() const { return files_; }
  const std::vector<std::string>& problems() const { return problems_; }
  void problem(std::string text);  // a line; the first few are kept
  bool empty() const { return files_.empty() && items_.empty(); }
  void clear();

  // For the engine: the files as bytes, and those of another rank added to these.
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

// Writes the files, `items.csv`, `items.json` and `metrics.json` (this text) into their folders,
// each folder whole or not at all, in place of an older one of that step. What could not be written
// (a full disk, a run that may not be written to), a line each; never throws.
std::vector<std::string> write_output(const EvaluationOutput& output, const std::string& metrics);

// Whether metrics.json of that step says "best": true.
bool was_best_output(const std::filesystem::path& run_dir, std::int64_t step);

// Removes the folders of all steps but the newest `keep` ones and the newest whose metrics.json
// says "best": true. Those with a mark stay. What could not be removed stays without a word.
void prune_outputs(const std::filesystem::path& run_dir, std::int64_t keep);

}  // namespace lockstep
