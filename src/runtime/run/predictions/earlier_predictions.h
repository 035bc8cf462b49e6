// Finds outputs that earlier commands `lockstep predict` made for the items to predict now.
// Commands keep records of their outputs (prediction_record.h). The identity of a command is
// everything that determines the bytes of its outputs (RecordHead).
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

// A member of RecordHead::identity that is used only for messages. It tells whether the weights
// come from an export.
inline constexpr const char* from_export_key = "weights of an export";

// The items to predict. item_keys: the item_key of each item, in the same order.
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
  // A part is a group of items that are predicted together. Parts are numbered from 0 in input
  // order. A part is done if no item in it was skipped, and its output files are unchanged.
  std::map<std::int64_t, DonePart> done{};
  std::int64_t done_items = 0;
  // True if all parts are done, all files have their final names, and the outputs that combine all
  // items exist.
  bool is_finished = false;
  // Names of outputs that this command may keep or replace. Commands with the same identity wrote
  // them for these items, and the files are unchanged.
  std::vector<std::string> own{};
  // Names that the remaining outputs must get, but that existing files have which are not in `own`.
  std::vector<std::string> in_the_way{};
  // Whether an earlier command with --force has not finished. This command may then replace the
  // files in `in_the_way`.
  bool may_replace = false;
  // Records of ended commands with the same identity and list of items. No other command needs the
  // outputs in their folders FILE.held.
  std::vector<std::filesystem::path> records{};
  std::set<std::string> devices{};  // RecordHead::device of the commands that made the done parts
  std::vector<std::string> partial{};  // files NAME.partial of commands with the same list of items
  std::vector<std::string> stale{};    // stale_partial for the outputs that this command replaces
};

// Compares the records whose identity equals `identity` with the items of `list` and the files in
// `folder`. If the folder is missing, no part is done.
EarlierPredictions find_earlier(const std::filesystem::path& folder,
                                const std::vector<PredictionRecord>& records,
                                const nlohmann::json& identity, const PredictionList& list);

// Returns the oldest record with this identity and list of items that another command is writing at
// the moment. Returns records.end() if there is none. own: the record of this command.
std::vector<PredictionRecord>::const_iterator find_made_now(
    const std::vector<PredictionRecord>& records, const nlohmann::json& identity,
    const std::vector<std::string>& item_keys, const std::filesystem::path& own);

// Returns the records to remove before all items are predicted again. These records have the same
// identity, and their commands have ended. They are of the same list of items, or contain one of
// the items.
std::vector<std::filesystem::path> records_of_items(const std::vector<PredictionRecord>& records,
                                                    const nlohmann::json& identity,
                                                    const std::vector<std::string>& item_keys);

// Returns the files NAME.partial that become obsolete when an output NAME in `joint_outputs` is
// replaced. The commands that wrote them have ended, and the files are unchanged. Their identity
// may differ.
std::vector<std::string> stale_partial(const std::filesystem::path& folder,
                                       const std::vector<PredictionRecord>& records,
                                       const std::vector<std::string>& joint_outputs);

// Describes the first difference between two identities: "predict.threshold = 0.5, not 0.3", "the
// weights of step 4, not 8".
std::string difference_text(const nlohmann::json& before, const nlohmann::json& now);

// Throws Error if `earlier.in_the_way` is not empty. The error names the first of these files. If a
// record has this file, the error also says why it cannot be used.
void check_nothing_in_the_way(const EarlierPredictions& earlier,
                              const std::filesystem::path& folder,
                              const std::vector<PredictionRecord>& records,
                              const nlohmann::json& identity);

}  // namespace lockstep
