// Predicts items on all ranks. A rank that is free takes the next items. Rank 0 gives the outputs
// their final names.
#pragma once

#include "runtime/run/predictions/earlier_predictions.h"
#include "training/trainer/trainer.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

struct ItemJob {
  std::vector<PredictItem> items;        // all items, the same on every rank
  std::int64_t batch = 1;                // PredictInput::batch
  nlohmann::json extra;                  // ItemContext::extra
  std::filesystem::path folder;          // folder of the outputs
  std::filesystem::path scratch;         // PredictionFolder::scratch
  bool replace = false;                  // whether existing files may be replaced
  std::vector<FurtherRun> also{};        // ItemContext::also
  std::vector<std::string> item_keys{};  // item_key of each item, computed before the item was read
  std::filesystem::path record{};        // file in which rank 0 records finished items
  // The parts that earlier commands finished. A part is `batch` consecutive items.
  std::map<std::int64_t, DonePart> done{};
  std::set<std::string> own{};  // output files of earlier commands, which may be replaced
  // An item that would end after `ends_s` is not begun. `ends_s` is a time on the system's
  // monotonic clock, or 0 if there is no limit. `item_s` is the seconds that one item takes, or 0
  // if it is not known in advance.
  double ends_s = 0, item_s = 0;

  std::set<std::int64_t> done_parts() const;
};

// Predicts the items of `job`. All ranks call it together, on one host. If the recipe throws an
// exception for an item, the item is skipped. If items are not begun because of ends_s, the outputs
// that are made from all items are not made. Throws Error if outputs cannot be written. Rank 0
// writes these events to the launcher:
//   - "items" {"done", "earlier", "total", "skipped", "left"}: counts of items, sent many times
//   - "item_skipped" {"name", "reason"}
//   - "warning" {"text"}: a warning of the recipe about an item
// "earlier" counts the done items that earlier commands finished. "left" counts the items that were
// not begun because of ends_s. If the recipe reports its steps (training/recipe/item_progress.h),
// "items" also counts these steps: "work_done", "work_total" and "work_unit". "work_known" is false
// if the total is an estimate.
void predict_items(const TrainerSetup& setup, Model& model, const ItemJob& job);

}  // namespace lockstep
