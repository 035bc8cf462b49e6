// Predicts items. Each rank takes the next items, or a piece of one item, until none is left.
#include "training/trainer/output/item_prediction.h"

#include "backends/exception_text.h"
#include "backends/out_of_memory.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "planning/order/item_tasks.h"
#include "runtime/launch/watch/heartbeat.h"
#include "runtime/run/predictions/item_results.h"
#include "runtime/run/predictions/item_work.h"
#include "runtime/run/predictions/prediction_folder.h"
#include "runtime/run/progress/item_pace.h"
#include "training/recipe/item_progress.h"
#include "training/step/compute_dtype.h"
#include "training/trainer/output/output_collector.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>

namespace lockstep {
namespace fs = std::filesystem;

namespace {

class Predictor {
 public:
  Predictor(const TrainerSetup& setup, Model& model, const ItemJob& job)
      : setup_(setup),
        model_(model),
        job_(job),
        context_{.extra = job.extra,
                 .scratch = job.scratch / cat("rank", setup.group.rank()),
                 .device = setup.backend.device(),
                 .compute_dtype = compute_dtype(setup.options.precision),
                 .also = job.also},
        work_(job.scratch, setup.group.rank(), system_clock()),
        pace_(system_clock(), job.ends_s, job.item_s),
        progress_([this](double done, double total, const std::string& unit) {
          beat();
          work_.report(done, total, unit);
        }) {
    fs::create_directories(context_.scratch);
  }

  void predict(const ItemTask& task) {
    double bytes = 0;
    for (std::int64_t i = task.begin; i < task.end; ++i)
      // items with a fault count 0 bytes, as in all_bytes
      if (item(i).fault.empty()) bytes += input_bytes(item(i).path);
    bytes /= static_cast<double>(task.pieces);
    if (!pace_.fits(bytes)) return leave(task);
    work_.begin(bytes);
    pace_.begin(bytes);
    if (task.pieces > 1)
      predict_piece(task);
    else
      predict_whole(task);
    pace_.end();
    work_.end();
  }

 private:
  using Results = std::vector<std::pair<std::int64_t, ItemResult>>;

  void predict_whole(const ItemTask& task) {
    std::vector<ItemResult> results(static_cast<std::size_t>(task.end - task.begin));
    std::vector<std::int64_t> good;
    for (std::int64_t i = task.begin; i < task.end; ++i) {
      std::string& fault = results[static_cast<std::size_t>(i - task.begin)].fault;
      fault = fault_of(item(i));
      if (fault.empty()) good.push_back(i);
    }
    for (auto& [index, result] : results_of(good))
      results[static_cast<std::size_t>(index - task.begin)] = std::move(result);
    ItemResults(job_.scratch).write(task.begin / job_.batch, results);
  }

  const PredictItem& item(std::int64_t index) const {
    return job_.items[static_cast<std::size_t>(index)];
  }

  // Returns why the item is skipped before the recipe gets it, or "".
  static std::string fault_of(const PredictItem& item) {
    if (!item.fault.empty()) return item.fault;
    // A recipe may list a folder as an item. Only the recipe knows the contents, so a folder is not
    // checked here.
    std::error_code ignored;
    if (item.path.empty() || std::filesystem::is_directory(item.path, ignored)) return "";
    try {
      open_regular_file(item.path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  // Predicts all these items together. If that fails, predicts each of them separately.
  Results results_of(const std::vector<std::int64_t>& indexes) {
    Results results;
    if (indexes.empty()) return results;
    std::vector<PredictItem> items;
    for (const std::int64_t index : indexes) items.push_back(item(index));
    note(items[0]);
    std::string fault;
    const auto outputs = try_items(items, fault);
    if (outputs) {
      for (std::size_t i = 0; i < items.size(); ++i)
        results.emplace_back(indexes[i], keep(items[i], (*outputs)[i]));
    } else if (indexes.size() == 1) {
      results.emplace_back(indexes[0], ItemResult{.fault = fault});
    } else {
      for (const std::int64_t index : indexes)
        for (auto& one : results_of({index})) results.push_back(std::move(one));
    }
    return results;
  }

  void leave(const ItemTask& task) {
    const std::vector<ItemResult> results(static_cast<std::size_t>(task.end - task.begin),
                                          {.left = true});
    if (task.pieces > 1)
      add_piece(task, results.at(0));
    else
      ItemResults(job_.scratch).write(task.begin / job_.batch, results);
  }

  void predict_piece(const ItemTask& task) {
    const PredictItem& item = job_.items[static_cast<std::size_t>(task.begin)];
    ItemResult result{.fault = fault_of(item)};
    if (result.fault.empty()) {
      note(item);
      const auto output = attempt(result.fault, [&] {
        return setup_.recipe.predict_piece(model_, item, {task.piece, task.pieces}, context_);
      });
      if (output) result = as_piece(*output);
    }
    add_piece(task, result);
  }

  // The rank that finishes the last missing piece of an item joins all its pieces.
  void add_piece(const ItemTask& task, const ItemResult& result) {
    const fs::path folder = job_.scratch / cat("item-", task.begin);
    fs::create_directories(folder);
    const ItemResults pieces(folder);
    pieces.write(task.piece, {result});
    if (setup_.group.next_number(cat("pieces-", task.begin)) + 1 < task.pieces) return;
    ItemResults(job_.scratch).write(task.begin, {joined(item(task.begin), pieces, task.pieces)});
  }

  static ItemResult as_piece(const ItemOutput& output) {
    ItemResult result{.bytes = output.bytes, .warning = output.warning};
    if (!output.path.empty()) result.files.emplace_back(output.path, "");
    return result;
  }

  ItemResult joined(const PredictItem& item, const ItemResults& results, std::int64_t count) {
    std::vector<ItemOutput> pieces;
    std::string fault;
    bool left = false;
    for (std::int64_t i = 0; i < count; ++i) {
      const ItemResult piece = results.take(i).at(0);
      if (fault.empty()) fault = piece.fault;
      left = left || piece.left;
      pieces.push_back({.bytes = piece.bytes,
                        .path = piece.files.empty() ? fs::path() : piece.files[0].first,
                        .warning = piece.warning});
    }
    std::optional<ItemOutput> output;
    if (fault.empty() && !left)
      output = attempt(fault, [&] { return setup_.recipe.join_pieces(item, pieces, context_); });
    std::error_code ignored;
    for (const ItemOutput& piece : pieces)
      if (!piece.path.empty()) fs::remove(piece.path, ignored);
    return output ? keep(item, *output) : ItemResult{.fault = fault, .left = left};
  }

  std::optional<std::vector<ItemOutput>> try_items(const std::vector<PredictItem>& items,
                                                   std::string& fault) {
    return attempt(fault, [&] {
      auto outputs = setup_.recipe.predict_items(model_, items, context_);
      if (outputs.size() != items.size())
        throw Error(cat("predict_items must return ", items.size(), " outputs, but returned ",
                        outputs.size()));
      return outputs;
    });
  }

  // Returns nothing if the recipe throws. `fault` then has the error message.
  template <class Function>
  auto attempt(std::string& fault, const Function& function)
      -> std::optional<decltype(function())> {
    try {
      return function();
    } catch (const Error& error) {
      fault = error.what();
    } catch (const std::exception& error) {
      fault = first_line_of(error);
      if (is_out_of_memory(error))
        setup_.backend.release_cached_memory();
      else
        setup_.backend.synchronize();  // throws if the device can no longer be used
    }
    check_disk();
    return std::nullopt;
  }

  // A full disk is not the fault of an item, even if the recipe met it first. Throws if the disk is
  // full.
  void check_disk() {
    constexpr std::size_t some_bytes = 1 << 16;
    const fs::path file = context_.scratch / "probe";
    write_output(file, std::string(some_bytes, ' '));
    fs::remove(file);
  }

  ItemResult keep(const PredictItem& item, const ItemOutput& output) {
    ItemResult result{.in_file = output.path.empty() && !item.output.empty(),
                      .warning = output.warning};
    if (item.output.empty()) result.bytes = output.bytes;
    if (result.in_file)
      result.files.emplace_back(written(output.bytes), item.output);
    else if (!output.path.empty())
      result.files.emplace_back(output.path, item.output);
    for (const ItemFile& file : output.files)
      result.files.emplace_back(file.path.empty() ? written(file.bytes) : file.path, file.name);
    return result;
  }

  fs::path written(const std::string& bytes) {
    const fs::path path = context_.scratch / cat("output-", next_file_++);
    write_output(path, bytes);
    return path;
  }

  // Records which item this rank works on, for the report if the rank dies.
  void note(const PredictItem& item) const {
    write_output(job_.scratch / cat("at-rank", setup_.group.rank()), item.name);
  }

  const TrainerSetup& setup_;
  Model& model_;
  const ItemJob& job_;
  ItemContext context_;
  RankWork work_;
  ItemPace pace_;
  ItemProgressTaker progress_;
  std::int64_t next_file_ = 0;
};

// Ranks may finish at very different times, so they wait for a file and not in a collective.
void meet_at_the_end(const TrainerSetup& setup, const ItemJob& job) {
  constexpr double look_again_s = 0.02;
  const fs::path mark = job.scratch / "all-done";
  if (setup.group.rank() == 0) return write_output(mark, "");
  for (std::error_code ignored; !fs::exists(mark, ignored);) system_clock().sleep_s(look_again_s);
}

}  // namespace

std::set<std::int64_t> ItemJob::done_parts() const {
  std::set<std::int64_t> parts;
  for (const auto& [part, place] : done) parts.insert(part);
  return parts;
}

void predict_items(const TrainerSetup& setup, Model& model, const ItemJob& job) {
  const at::NoGradGuard no_grad;
  enter_phase(Phase::prediction);
  std::unique_ptr<OutputCollector> collector;
  if (setup.group.rank() == 0) collector = std::make_unique<OutputCollector>(setup.recipe, job);
  Predictor predictor(setup, model, job);
  const std::vector<ItemTask> tasks =
      item_tasks(job.items, job.batch, setup.group.size(), job.done_parts());
  for (std::int64_t next; (next = setup.group.next_number("items")) < std::ssize(tasks);) {
    beat();
    predictor.predict(tasks[static_cast<std::size_t>(next)]);
    if (collector && collector->failed()) break;
  }
  if (collector) collector->finish();
  meet_at_the_end(setup, job);
}

}  // namespace lockstep
