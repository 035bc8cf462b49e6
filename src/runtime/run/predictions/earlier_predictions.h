// The outputs of earlier commands for the items that `lockstep predict` is to predict now.
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

// A member of an identity that only messages use: whether the weights are an export's.
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
  // Parts that are done: no item of theirs was skipped, and all their files are unchanged. A part
  // is a group of items predicted at once, numbered in input order.
  std::map<std::int64_t, DonePart> done{};
  std::int64_t done_items = 0;
  // True if nothing is left to do: the outputs made of all items exist too.
  bool is_finished = false;
  // Names of outputs that may exist, because commands of the same identity wrote them for these
  // items and they are unchanged.
  std::vector<std::string> own{};
  // Existing outputs that the remaining work needs to write, and that are not in `own`.
  std::vector<std::string> in_the_way{};
  // An unfinished command with --force may still replace outputs that are in the way.
  bool may_replace = false;
  // Records of ended commands with that identity and list; nobody else needs the outputs they hold.
  std::vector<std::filesystem::path> records{};
  std::set<std::string> devices{};     // kinds of devices that made the done parts
  std::vector<std::string> partial{};  // NAME.partial from commands of the same list
  std::vector<std::string> stale{};    // stale_partial of each NAME that this command replaces
};

// Uses the records whose identity is `identity`. A missing folder counts as empty.
EarlierPredictions find_earlier(const std::filesystem::path& folder,
                                const std::vector<PredictionRecord>& records,
                                const nlohmann::json& identity, const PredictionList& list);

// The oldest record of the same identity and list that a command other than `own` is writing now.
std::vector<PredictionRecord>::const_iterator find_made_now(
    const std::vector<PredictionRecord>& records, const nlohmann::json& identity,
    const std::vector<std::string>& item_keys, const std::filesystem::path& own);

// Records to forget when everything is made again. They have this identity, their commands have
// ended, and they contain one of these items or are of this very list.
std::vector<std::filesystem::path> records_of_items(const std::vector<PredictionRecord>& records,
                                                    const nlohmann::json& identity,
                                                    const std::vector<std::string>& item_keys);

// NAME.partial files that become obsolete once the output NAME is replaced, whatever made them.
// Their commands have ended, and the files are unchanged.
std::vector<std::string> stale_partial(const std::filesystem::path& folder,
                                       const std::vector<PredictionRecord>& records,
                                       const std::vector<std::string>& joint_outputs);

// The difference of two identities, in words: "predict.threshold = 0.5, not 0.3", "the weights of
// step 4, not 8".
std::string difference_text(const nlohmann::json& before, const nlohmann::json& now);

// Throws Error if outputs are in the way. It names the first, and how it was made if a record shows
// that.
void check_nothing_in_the_way(const EarlierPredictions& earlier,
                              const std::filesystem::path& folder,
                              const std::vector<PredictionRecord>& records,
                              const nlohmann::json& identity);

}  // namespace lockstep
