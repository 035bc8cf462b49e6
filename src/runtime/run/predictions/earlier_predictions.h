// Finds outputs of earlier commands for the items that `lockstep predict` must predict now.
#pragma once

#include "planning/order/predict_items.h"
#include "runtime/run/predictions/prediction_record.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// A member of an identity that is used only for messages. It tells whether the weights come from an
// export.
inline constexpr const char* from_export_key = "weights of an export";

// The items to predict. item_keys: the keys of these items, in the same order.
struct PredictionList {
  const std::vector<PredictItem>& items;
  const std::vector<std::string>& item_keys;
  std::int64_t batch = 1;                         // PredictInput::batch
  const std::vector<std::string>& joint_outputs;  // PredictInput::joint_outputs
};

struct DonePart {
  std::filesystem::path record;
  RecordPlace place;
};

struct EarlierPredictions {
  // The parts that are done: no item was skipped, and all files are unchanged. A part is a group of
  // items that are predicted together. Parts are numbered in input order.
  std::map<std::int64_t, DonePart> done{};
  std::int64_t done_items = 0;
  // True if nothing remains to be done. Outputs that combine all items then exist too.
  bool is_finished = false;
  // Names of outputs that this command may keep or replace. Commands with the same identity wrote
  // them for these items, and they are unchanged.
  std::vector<std::string> own{};
  // Existing outputs that are not in `own`, but whose names the remaining work needs.
  std::vector<std::string> in_the_way{};
  // Whether an unfinished command with --force may still replace the outputs in `in_the_way`.
  bool may_replace = false;
  // Records of ended commands with the same identity and list. No other command needs the outputs
  // that they hold.
  std::vector<std::filesystem::path> records{};
  std::set<std::string> devices{};     // kinds of devices that made the done parts
  std::vector<std::string> partial{};  // NAME.partial from commands of the same list
  std::vector<std::string> stale{};    // stale_partial of each NAME that this command replaces
};

// Uses the records whose identity equals `identity`. If the folder is missing, nothing is done.
EarlierPredictions find_earlier(const std::filesystem::path& folder,
                                const std::vector<PredictionRecord>& records,
                                const nlohmann::json& identity, const PredictionList& list);

// The oldest record of the same identity and list that another command writes at the moment. own:
// the record of this command.
std::vector<PredictionRecord>::const_iterator find_made_now(
    const std::vector<PredictionRecord>& records, const nlohmann::json& identity,
    const std::vector<std::string>& item_keys, const std::filesystem::path& own);

// The records to remove before everything is predicted again. Their identity is equal and their
// commands have ended. They belong to this list, or contain one of these items.
std::vector<std::filesystem::path> records_of_items(const std::vector<PredictionRecord>& records,
                                                    const nlohmann::json& identity,
                                                    const std::vector<std::string>& item_keys);

// The NAME.partial files that become obsolete when the output NAME is replaced, whatever their
// identity. Their commands have ended, and the files are unchanged.
std::vector<std::string> stale_partial(const std::filesystem::path& folder,
                                       const std::vector<PredictionRecord>& records,
                                       const std::vector<std::string>& joint_outputs);

// Describes the first difference of two identities: "predict.threshold = 0.5, not 0.3", "the
// weights of step 4, not 8".
std::string difference_text(const nlohmann::json& before, const nlohmann::json& now);

// Throws Error if outputs are in the way. The error names the first of them, and how it was made if
// a record shows that.
void check_nothing_in_the_way(const EarlierPredictions& earlier,
                              const std::filesystem::path& folder,
                              const std::vector<PredictionRecord>& records,
                              const nlohmann::json& identity);

}  // namespace lockstep
