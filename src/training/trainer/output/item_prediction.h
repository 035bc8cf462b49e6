// Predicting items on all ranks: each takes the next ones, rank 0 puts the outputs in their place.
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
  std::filesystem::path folder;             // of the outputs
  std::filesystem::path scratch;            // PredictionFolder::scratch
  bool replace = false;                     // outputs that are there already
  std::vector<FurtherRun> also{};           // ItemContext::also
  std::vector<std::string> item_keys{};     // item_key of each, from before it was read
  std::filesystem::path record{};           // where rank 0 writes what is done
  std::map<std::int64_t, DonePart> done{};  // parts that earlier commands made
  std::set<std::string> own{};              // outputs of theirs that may be replaced
  // Items that would end later than this, on the system's monotonic clock, are not begun; 0: all
  // are. item_s: what one takes, as far as that is known before.
  double ends_s = 0, item_s = 0;

  std::set<std::int64_t> done_parts() const;
};

// All ranks, at the same time, on one host. Rank 0 writes events to the launcher. "items" {"done",
// "earlier", "total", "skipped", "left"} comes while items are predicted; `earlier` of the done
// items were done before. It has "work_done", "work_total", "work_known" and "work_unit" too, where
// the recipe reports its steps (training/recipe/item_progress.h). The other event is "item_skipped"
// {"name", "reason"}. Throws Error if outputs cannot be written. An item that the recipe throws for
// is skipped, and where items are left there are no outputs of all items.
void predict_items(const TrainerSetup& setup, Model& model, const ItemJob& job);

}  // namespace lockstep
