// Predicts items on all ranks. Each rank takes the next items, and rank 0 puts the outputs in their
// place.
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
  std::vector<PredictItem> items;           // all, the same on every rank
  std::int64_t batch = 1;                   // PredictInput::batch
  nlohmann::json extra;                     // ItemContext::extra
  std::filesystem::path folder;             // folder of the outputs
  std::filesystem::path scratch;            // PredictionFolder::scratch
  bool replace = false;                     // whether existing outputs are replaced
  std::vector<FurtherRun> also{};           // ItemContext::also
  std::vector<std::string> item_keys{};     // item_key of each item, made before it was read
  std::filesystem::path record{};           // the file in which rank 0 records finished items
  std::map<std::int64_t, DonePart> done{};  // parts that earlier commands made
  std::set<std::string> own{};              // outputs of earlier commands that may be replaced
  // Items that would end later than ends_s, on the system's monotonic clock, are not begun; 0: all
  // are begun. item_s: the time that one item takes, if it is known beforehand, or else 0.
  double ends_s = 0, item_s = 0;

  std::set<std::int64_t> done_parts() const;
};

// All ranks call it at the same time, on one host. Rank 0 writes events to the launcher. While
// items are predicted, it writes "items" {"done", "earlier", "total", "skipped", "left"}. Earlier
// commands did `earlier` of the done items. If the recipe reports its steps
// (training/recipe/item_progress.h), the event also has "work_done", "work_total", "work_known" and
// "work_unit". The other event is "item_skipped" {"name", "reason"}. Throws Error if outputs cannot
// be written. If the recipe throws for an item, the item is skipped. If items are left, the outputs
// that hold all items are not made.
void predict_items(const TrainerSetup& setup, Model& model, const ItemJob& job);

}  // namespace lockstep
