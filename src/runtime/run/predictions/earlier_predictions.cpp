// Compares records of earlier predictions with the items to predict and with existing files.
#include "runtime/run/predictions/earlier_predictions.h"

#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/predictions/prediction_folder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* weights_key = "weights";

// One member serves only messages, and records of earlier versions lack it. So it is not compared.
bool is_same(const json& before, const json& now) {
  json a = before, b = now;
  for (json* const one : {&a, &b})
    if (one->is_object()) one->erase(from_export_key);
  return a == b;
}

class Finder {
 public:
  Finder(const fs::path& folder, const std::vector<PredictionRecord>& records, const json& identity,
         const PredictionList& list)
      : folder_(folder), list_(list), list_key_(list_key(list.item_keys)) {
    for (const PredictionRecord& record : records)
      if (is_same(record.head.identity, identity)) records_.push_back(&record);
  }

  EarlierPredictions find() {
    find_done();
    find_own();
    find_in_the_way();
    const bool has_joint = list_.joint_outputs.empty() ||
                           std::any_of(records_.begin(), records_.end(), [&](const auto* record) {
                             return record->head.list == list_key_ && has_all_joint(*record);
                           });
    const auto count = static_cast<std::int64_t>(list_.items.size());
    found_.is_finished = found_.done_items == count && !waits_for_names_ && has_joint;
    for (const PredictionRecord* record : records_) {
      if (record->head.list != list_key_) continue;
      if (!record->in_use) found_.records.push_back(record->file);
      if (record->head.replaces && !record->joint) found_.may_replace = true;
      for (const OutputStamp& file : record->partial)
        if (is_placed(file)) found_.partial.push_back(file.name);
    }
    return std::move(found_);
  }

 private:
  struct Candidate {
    const PredictionRecord* record;
    const PredictionRecord::Part* part;
  };

  bool is_there(const std::string& name) const { return folder_.status(name).has_value(); }

  // Whether the file has its final name and is unchanged.
  bool is_placed(const OutputStamp& file) {
    const auto [known, is_new] = placed_.emplace(&file, false);
    if (is_new) known->second = is_unchanged(folder_, file.name, file);
    return known->second;
  }

  bool has_all_joint(const PredictionRecord& record) {
    return record.joint && std::all_of(record.joint->begin(), record.joint->end(),
                                       [&](const OutputStamp& file) { return is_placed(file); });
  }

  // Whether no item of the part was skipped and its files exist, with their final or temporary
  // names.
  bool is_whole(const Candidate& found) {
    const RecordedPart& part = found.part->items;
    return std::all_of(part.begin(), part.end(), [&](const RecordedItem& item) {
      return item.fault.empty() &&
             std::all_of(item.files.begin(), item.files.end(), [&](const OutputStamp& file) {
               return is_placed(file) ||
                      (!found.record->in_use && is_unchanged(folder_, file.held, file));
             });
    });
  }

  bool has_keys(const RecordedPart& part, std::size_t begin, std::size_t end) const {
    return part.size() == end - begin &&
           std::equal(
               part.begin(), part.end(),
               list_.item_keys.begin() + static_cast<std::ptrdiff_t>(begin),
               [](const RecordedItem& item, const std::string& key) { return item.key == key; });
  }

  void find_done() {
    std::multimap<std::string, Candidate> by_first;
    for (const PredictionRecord* record : records_)
      for (const PredictionRecord::Part& part : record->parts)
        if (!part.items.empty()) by_first.emplace(part.items[0].key, Candidate{record, &part});
    const auto batch = static_cast<std::size_t>(list_.batch);
    for (std::size_t begin = 0; begin < list_.items.size(); begin += batch) {
      const std::size_t end = std::min(begin + batch, list_.items.size());
      const auto [first, last] = by_first.equal_range(list_.item_keys[begin]);
      const auto found = std::find_if(first, last, [&](const auto& candidate) {
        return has_keys(candidate.second.part->items, begin, end) && is_whole(candidate.second);
      });
      if (found == last)
        to_do_.push_back({begin, end});
      else
        take(begin / batch, end - begin, found->second);
    }
  }

  void take(std::size_t part, std::size_t items, const Candidate& found) {
    found_.done[static_cast<std::int64_t>(part)] = {found.record->file, found.part->place};
    found_.done_items += static_cast<std::int64_t>(items);
    found_.devices.insert(found.record->head.device);
    for (const RecordedItem& item : found.part->items)
      for (const OutputStamp& file : item.files) {
        if (is_placed(file)) continue;
        waits_for_names_ = true;
        needed_.insert(file.name);
      }
  }

  void find_own() {
    const std::set<std::string> keys(list_.item_keys.begin(), list_.item_keys.end());
    bool are_all_wanted = true;
    for (const PredictionRecord* record : records_)
      for (const PredictionRecord::Part& part : record->parts)
        for (const RecordedItem& item : part.items) {
          if (!item.fault.empty()) continue;
          if (keys.contains(item.key))
            add_own(item.files);
          else
            are_all_wanted = false;
        }
    if (!are_all_wanted) return;  // the earlier table holds items that the new one would lack
    for (const PredictionRecord* record : records_)
      if (record->joint) add_own(*record->joint);
  }

  void add_own(const std::vector<OutputStamp>& files) {
    for (const OutputStamp& file : files)
      if (is_placed(file)) found_.own.push_back(file.name);
  }

  void find_in_the_way() {
    std::set<std::string> ids;
    for (const auto& [begin, end] : to_do_)
      for (std::size_t i = begin; i < end; ++i) {
        const PredictItem& item = list_.items[i];
        if (!item.fault.empty()) continue;
        ids.insert(item.id);
        if (!item.output.empty()) needed_.insert(item.output);
      }
    // The recipe chooses the names of an item's further files. The names are known from earlier
    // predictions of the item.
    for (const PredictionRecord* record : records_)
      for (const PredictionRecord::Part& part : record->parts)
        for (const RecordedItem& item : part.items)
          if (ids.contains(item.id))
            for (const OutputStamp& file : item.files)
              if (is_placed(file)) needed_.insert(file.name);
    const std::set<std::string> own(found_.own.begin(), found_.own.end());
    const auto add = [&](const std::string& name) {
      if (!own.contains(name) && is_there(name)) found_.in_the_way.push_back(name);
    };
    const auto count = static_cast<std::int64_t>(list_.items.size());
    const bool makes_joint =
        std::none_of(records_.begin(), records_.end(), [&](const PredictionRecord* record) {
          return found_.done_items == count && record->head.list == list_key_ &&
                 has_all_joint(*record);
        });
    std::for_each(needed_.begin(), needed_.end(), add);
    if (makes_joint) std::for_each(list_.joint_outputs.begin(), list_.joint_outputs.end(), add);
  }

  const Beneath folder_;
  const PredictionList& list_;
  const std::string list_key_;
  std::vector<const PredictionRecord*> records_;
  // Ranges of items to predict, one per part.
  std::vector<std::pair<std::size_t, std::size_t>> to_do_;
  std::set<std::string> needed_;               // outputs that will get their final names
  std::map<const OutputStamp*, bool> placed_;  // files of records that were already checked
  bool waits_for_names_ = false;
  EarlierPredictions found_;
};

bool names_file(const std::vector<OutputStamp>& files, const std::string& name) {
  return std::any_of(files.begin(), files.end(),
                     [&](const OutputStamp& file) { return file.name == name; });
}

// Why this output of a record differs from the output that would be made now. Empty if the record
// has no such output.
std::string why_it_differs(const PredictionRecord& record, const json& identity,
                           const std::string& name) {
  const bool is_joint = record.joint && names_file(*record.joint, name);
  const bool is_of_item =
      std::any_of(record.parts.begin(), record.parts.end(), [&](const auto& part) {
        return std::any_of(part.items.begin(), part.items.end(),
                           [&](const RecordedItem& item) { return names_file(item.files, name); });
      });
  if (!is_joint && !is_of_item) return "";
  if (!is_same(record.head.identity, identity))
    return cat("made with ", difference_text(record.head.identity, identity));
  return is_joint ? "made of other items" : "it or its input has changed since it was made";
}

bool has_item_of(const PredictionRecord& record, const std::set<std::string>& keys) {
  return std::any_of(record.parts.begin(), record.parts.end(), [&](const auto& part) {
    return std::any_of(part.items.begin(), part.items.end(),
                       [&](const RecordedItem& item) { return keys.contains(item.key); });
  });
}

}  // namespace

EarlierPredictions find_earlier(const fs::path& folder,
                                const std::vector<PredictionRecord>& records, const json& identity,
                                const PredictionList& list) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return {};
  return Finder(folder, records, identity, list).find();
}

std::vector<PredictionRecord>::const_iterator find_made_now(
    const std::vector<PredictionRecord>& records, const json& identity,
    const std::vector<std::string>& item_keys, const fs::path& own) {
  const std::string list = list_key(item_keys);
  return std::find_if(records.begin(), records.end(), [&](const PredictionRecord& record) {
    return record.in_use && is_same(record.head.identity, identity) && record.head.list == list &&
           record.file != own;
  });
}

std::vector<fs::path> records_of_items(const std::vector<PredictionRecord>& records,
                                       const json& identity,
                                       const std::vector<std::string>& item_keys) {
  const std::string list = list_key(item_keys);
  const std::set<std::string> keys(item_keys.begin(), item_keys.end());
  std::vector<fs::path> files;
  for (const PredictionRecord& record : records)
    if (!record.in_use && is_same(record.head.identity, identity) &&
        (record.head.list == list || has_item_of(record, keys)))
      files.push_back(record.file);
  return files;
}

std::vector<std::string> stale_partial(const fs::path& folder,
                                       const std::vector<PredictionRecord>& records,
                                       const std::vector<std::string>& joint_outputs) {
  std::vector<std::string> names;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return names;
  const Beneath outputs(folder);
  for (const PredictionRecord& record : records)
    for (const OutputStamp& file : record.partial)
      if (!record.in_use && is_unchanged(outputs, file.name, file) &&
          std::any_of(joint_outputs.begin(), joint_outputs.end(), [&](const std::string& name) {
            return file.name.starts_with(name + partial_suffix);
          }))
        names.push_back(file.name);
  return names;
}

std::string difference_text(const json& before, const json& now) {
  const auto value = [](const json& identity, const std::string& key) {
    return identity.is_object() && identity.contains(key) ? identity[key] : json();
  };
  const json weights = value(before, weights_key), own = value(now, weights_key);
  if (weights != own) {
    const json step = value(weights, "step"), own_step = value(own, "step");
    const json was_export = value(before, from_export_key), is_export = value(now, from_export_key);
    const bool is_known = was_export.is_boolean() && is_export.is_boolean();
    if (step == own_step && is_known && was_export != is_export)
      return was_export == true
                 ? cat("an export of step ", step.dump(), ", not a checkpoint of the run")
                 : cat("a checkpoint of step ", step.dump(), ", not an export");
    if (step == own_step && is_known && is_export == true)
      return cat("another export of step ", step.dump());
    return step == own_step ? cat("other weights of step ", step.dump())
                            : cat("the weights of step ", step.dump(), ", not ", own_step.dump());
  }
  for (const auto& [key, of_now] : now.items()) {
    const json of_before = value(before, key);
    if (of_before == of_now || key == from_export_key) continue;
    const bool is_option = key.find('.') != key.npos;
    return is_option ? cat(key, " = ", to_line(of_before), ", not ", to_line(of_now))
                     : cat("another ", key);
  }
  return "options that are not there any more";
}

void check_nothing_in_the_way(const EarlierPredictions& earlier, const fs::path& folder,
                              const std::vector<PredictionRecord>& records, const json& identity) {
  if (earlier.in_the_way.empty()) return;
  const std::string& first = earlier.in_the_way[0];
  const std::size_t more = earlier.in_the_way.size() - 1;
  std::string why;
  bool is_of_now = false;
  for (auto record = records.rbegin(); why.empty() && record != records.rend(); ++record) {
    why = why_it_differs(*record, identity, first);
    is_of_now = !why.empty() && is_same(record->head.identity, identity);
  }
  throw Error(cat((folder / first).string(), " is there already",
                  more == 0 ? "" : cat(", and ", more, " more"), why.empty() ? "" : ": ", why),
              cat(is_of_now ? "remove what is to be predicted again, " : "",
                  "name another folder with out=, or make all again with --force"));
}

}  // namespace lockstep
