// What earlier commands have made of the items that `lockstep predict` is to predict now.
#pragma once

#include "plan/predict_items.h"
#include "run/prediction_record.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// What is to be predicted. item_keys: of the items, in their order.
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
  // Parts (items that are predicted at once, numbered in input order) that are done: no item of
  // theirs was skipped, and all their files are there as they were written.
  std::map<std::int64_t, DonePart> done{};
  std::int64_t done_items = 0;
  // Nothing is left to do: the outputs that are made of all items are there too.
  bool is_finished = false;
  // Names of outputs that may be there, because commands of the same identity wrote them for these
  // items, and they are as those wrote them.
  std::vector<std::string> own{};
  // Outputs that are there, but are needed for what is to be done, and are none of those.
  std::vector<std::string> in_the_way{};
  // A command with --force that did not come to its end may still replace what is in the way.
  bool may_replace = false;
  // Of such commands of the same list, where they have ended: nobody else needs what they hold.
  std::vector<std::filesystem::path> records{};
  std::set<std::string> devices{};     // kinds that done parts were made on
  std::vector<std::string> partial{};  // NAME.partial of commands of the same list
  std::vector<std::string> stale{};    // stale_partial, where this command replaces NAME
};

// Goes by the records whose identity is `identity`. A folder that is not there holds nothing.
EarlierPredictions find_earlier(const std::filesystem::path& folder,
                                const std::vector<PredictionRecord>& records,
                                const nlohmann::json& identity, const PredictionList& list);

// The oldest record that a command other than `own` is writing, of the same identity and list.
std::vector<PredictionRecord>::const_iterator find_made_now(
    const std::vector<PredictionRecord>& records, const nlohmann::json& identity,
    const std::vector<std::string>& item_keys, const std::filesystem::path& own);

// Records of this identity that have an item of these or are of this very list, where their
// commands have ended: what is to be forgotten where all is made again.
std::vector<std::filesystem::path> records_of_items(const std::vector<PredictionRecord>& records,
                                                    const nlohmann::json& identity,
                                                    const std::vector<std::string>& item_keys);

// NAME.partial of these outputs, whatever made them, which stand for nothing once NAME is replaced:
// of commands that have ended, and as those wrote them.
std::vector<std::string> stale_partial(const std::filesystem::path& folder,
                                       const std::vector<PredictionRecord>& records,
                                       const std::vector<std::string>& joint_outputs);

// What of two identities differs, in words: "predict.threshold = 0.5, not 0.3", "the weights of
// step 4, not 8".
std::string difference_text(const nlohmann::json& before, const nlohmann::json& now);

// Throws Error where outputs are in the way, naming the first, and what it was made with or of if a
// record names it.
void check_nothing_in_the_way(const EarlierPredictions& earlier,
                              const std::filesystem::path& folder,
                              const std::vector<PredictionRecord>& records,
                              const nlohmann::json& identity);

}  // namespace lockstep
