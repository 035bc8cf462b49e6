#include "recipes/volume/prepare/find/nnunet_dataset.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <system_error>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/channel_files.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view ignore_name = "ignore";
constexpr std::int64_t largest_label = 255;

std::optional<std::int64_t> number_in(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const std::string text = trim(value.get<std::string>());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

[[noreturn]] void fail_member(const fs::path& file, const std::string& what) {
  throw Error(cat(file.string(), ": ", what),
              "correct the file as nnU-Net's dataset.json is meant, or take it away and set "
              "data.classes and data.ignore");
}

// Reads {"0": "background", "1": "tumour"}: labels in the older format, or names of channels.
std::map<std::int64_t, std::string> names_by_number(const fs::path& file, const char* member,
                                                    const json& object) {
  std::map<std::int64_t, std::string> names;
  for (const auto& [key, value] : object.items()) {
    const auto number = number_in(json(key));
    if (!number || !value.is_string())
      fail_member(
          file, cat("the entry \"", printable(key), "\" of ", member, " is no number with a name"));
    names[*number] = value.get<std::string>();
  }
  return names;
}

std::vector<std::string> in_order(const fs::path& file, const char* member,
                                  const std::map<std::int64_t, std::string>& names) {
  std::vector<std::string> all;
  for (const auto& [number, name] : names) {
    if (number != std::ssize(all))
      fail_member(file, cat(member, " has no ", all.size(), ", but ", number,
                            ": the numbers go up from 0 in steps of 1"));
    all.push_back(name);
  }
  return all;
}

// Reads {"background": 0, "tumour": 1, "ignore": 2}. The value of a region is a list of numbers.
std::map<std::int64_t, std::string> labels_by_name(const json& object, NnunetDataset& dataset) {
  std::map<std::int64_t, std::string> names;
  std::vector<std::string> regions;
  for (const auto& [name, value] : object.items()) {
    if (value.is_array() && value.size() != 1) {
      regions.push_back(name);
      continue;
    }
    const auto number = number_in(value.is_array() ? value.at(0) : value);
    if (!number || *number < 0 || *number > largest_label)
      fail_member(dataset.file,
                  cat("the label \"", printable(name), "\" is ", printable(value.dump()),
                      ", not a number from 0 to ", largest_label));
    if (name == ignore_name) {
      dataset.ignore = *number;
      continue;
    }
    const auto [before, is_new] = names.emplace(*number, name);
    if (!is_new)
      fail_member(dataset.file, cat("the labels \"", printable(before->second), "\" and \"",
                                    printable(name), "\" are both ", *number));
  }
  dataset.regions = join(regions, ", ");
  return names;
}

void read_labels_of(const json& all, NnunetDataset& dataset) {
  if (!all.contains("labels") || !all["labels"].is_object() || all["labels"].empty())
    fail_member(dataset.file, "it has no \"labels\"");
  const json& labels = all["labels"];
  const bool by_number = std::all_of(
      labels.items().begin(), labels.items().end(),
      [](const auto& entry) { return entry.value().is_string() && number_in(json(entry.key())); });
  const auto names =
      by_number ? names_by_number(dataset.file, "labels", labels) : labels_by_name(labels, dataset);
  if (dataset.regions.empty()) dataset.labels = in_order(dataset.file, "labels", names);
  if (dataset.regions.empty() && dataset.labels.size() < 2)
    fail_member(dataset.file, "\"labels\" has no label beside the background");
}

bool is_unset(const VolumeOptions& options, const std::string& key) {
  return !options.table.is_given(key);
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

struct ChannelsNormalization {
  Normalize how = Normalize::zscore;
  bool stays = false;  // whether values are divided by 1
  friend bool operator==(const ChannelsNormalization&, const ChannelsNormalization&) = default;
};

// The normalization that nnU-Net uses for channels with these names. Nothing if it differs between
// channels.
std::optional<ChannelsNormalization> normalization_of(const std::vector<std::string>& channels) {
  std::optional<ChannelsNormalization> all;
  for (const std::string& channel : channels) {
    const std::string name = in_small_letters(channel);
    ChannelsNormalization one{.stays = name == "nonorm"};
    if (name == "ct") one.how = Normalize::ct;
    if (name == "rescale_to_0_1") one.how = Normalize::percentile;
    if (one.stays || name == "rgb_to_0_1") one.how = Normalize::divide;
    if (all && *all != one) return std::nullopt;
    all = one;
  }
  return all;
}

const char* word_of(Normalize how) {
  for (const auto& [value, name] : EnumNames<Normalize>::value)
    if (value == how) return name;
  return "";
}

// Sets options from the file and collects notes on them.
class Taker {
 public:
  Taker(VolumeOptions& options, const NnunetDataset& dataset)
      : options_(options), dataset_(dataset) {}

  void take(const std::string& key, const std::string& value, const std::string& meaning) {
    const std::string words = meaning.empty() ? "" : cat(" (", meaning, ")");
    if (is_unset(options_, key)) {
      options_.table.set(key, value,
                         {.kind = ValueSource::Kind::file, .where = dataset_.file.string()});
      taken_.push_back(cat(key, "=", value, words));
    } else if (options_.table.get(key) != value) {
      kept_.push_back(cat(key, "=", options_.table.get(key), " (",
                          dataset_.file.filename().string(), " has ", value, ")"));
    }
  }
  void report(const Say& say) const {
    if (!taken_.empty()) say(cat("from ", dataset_.file.string(), ": ", join(taken_, ", ")));
    if (!kept_.empty()) say(cat("kept as it was set: ", join(kept_, ", ")));
  }

 private:
  VolumeOptions& options_;
  const NnunetDataset& dataset_;
  std::vector<std::string> taken_, kept_;
};

void check_can_be_trained(const VolumeOptions& options, const NnunetDataset& dataset) {
  if (!dataset.regions.empty() && is_unset(options, "data.classes"))
    throw Error(cat(dataset.file.string(),
                    " has regions, labels that stand for several numbers: ", dataset.regions,
                    "; one voxel can be of several regions, and the model gives "
                    "each voxel one class"),
                "train the numbers in the label files instead: data.classes=N with the background, "
                "and data.ignore; regions are unions of classes of the prediction");
  const std::string& ending = dataset.file_ending;
  if (!ending.empty() && volume_suffix("a" + ending).empty())
    throw Error(cat(dataset.file.string(), ": the file_ending is \"", printable(ending),
                    "\", which is not read"),
                "convert the files to .nii.gz or .tif and change file_ending");
}

}  // namespace

NnunetDataset read_nnunet_dataset(const fs::path& file) {
  const std::string text = read_file(file, list_bytes);
  const json all = parse_python_json(text);
  if (!all.is_object()) {
    const JsonFault fault = json_fault(text);
    fail_member(file, all.is_discarded()
                          ? cat("it is no JSON, at byte ", fault.offset, ": ", fault.reason)
                          : std::string("it holds no object"));
  }
  NnunetDataset dataset{.file = file};
  read_labels_of(all, dataset);
  for (const char* member : {"channel_names", "modality"})
    if (all.contains(member) && all[member].is_object() && dataset.channels.empty())
      dataset.channels = in_order(file, member, names_by_number(file, member, all[member]));
  if (all.contains("file_ending") && all["file_ending"].is_string())
    dataset.file_ending = all["file_ending"].get<std::string>();
  return dataset;
}

fs::path nnunet_dataset_file(const fs::path& folder) {
  constexpr std::array<const char*, 3> parts{"imagesTr", "labelsTs", "imagesTs"};
  std::error_code ignored;
  if (folder.empty() || !fs::is_regular_file(folder / "dataset.json", ignored)) return {};
  const bool is_raw = std::any_of(parts.begin(), parts.end(), [&](const char* name) {
    return fs::is_directory(folder / name, ignored);
  });
  return is_raw ? folder / "dataset.json" : fs::path();
}

fs::path nnunet_dataset_around(const fs::path& folder) {
  fs::path whole = fs::absolute(folder).lexically_normal();
  // the path may end with a slash: "labelsTs/"
  if (!whole.has_filename()) whole = whole.parent_path();
  return nnunet_dataset_file(whole.parent_path());
}

std::string nnunet_file_ending(const fs::path& dataset_json) try {
  if (dataset_json.empty()) return "";
  const json all = parse_python_json(read_file(dataset_json, list_bytes));
  const std::string ending = all.is_object() ? text_or(all, "file_ending", "") : "";
  return volume_suffix("a" + ending).empty() ? "" : ending;
} catch (const Error&) {  // training will report the error
  return "";
}

std::map<std::string, fs::path> list_nnunet_volumes(const fs::path& folder,
                                                    const fs::path& dataset_json) {
  const std::string ending = nnunet_file_ending(dataset_json);
  std::map<std::string, fs::path> volumes = list_volumes(folder, ending);
  return volumes.empty() && !ending.empty() ? list_volumes(folder) : volumes;
}

void take_nnunet_dataset(VolumeOptions& options, const NnunetDataset& dataset, bool training,
                         const Say& say) {
  check_can_be_trained(options, dataset);
  Taker taker(options, dataset);
  if (!dataset.labels.empty()) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < dataset.labels.size(); ++i)
      names.push_back(cat(i, " ", printable(dataset.labels[i])));
    taker.take("data.classes", names.size() == 2 ? "1" : cat(names.size()), first_five(names));
  }
  taker.take("data.ignore", cat(dataset.ignore.value_or(-1)),
             dataset.ignore ? "" : "no label is ignored");
  if (training && !dataset.channels.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : dataset.channels) names.push_back(printable(name));
    taker.take("data.channels", cat(names.size()), first_five(names));
    const auto how = normalization_of(dataset.channels);
    if (how) taker.take("data.normalize", word_of(how->how), "");
    if (how && how->stays) taker.take("data.divide", "1", "values stay as they are");
    if (!how && is_unset(options, "data.normalize"))
      say(cat("warning: ", dataset.file.string(), " names channels of different normalisations, ",
              first_five(names), ", and data.normalize is one for all of them: it stays ",
              options.table.get("data.normalize")));
  }
  taker.report(say);
  options.check_labels();
}

}  // namespace lockstep::volume
