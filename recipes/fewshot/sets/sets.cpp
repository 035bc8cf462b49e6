#include "recipes/fewshot/sets/sets.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"

namespace lockstep::fewshot {
namespace {

using nlohmann::json;

json to_json(const DetectionFiles& files) {
  if (const auto* const coco = std::get_if<CocoFiles>(&files)) {
    std::vector<std::string> folders;
    for (const std::filesystem::path& folder : coco->folders) folders.push_back(folder.string());
    return {{"coco", coco->json.string()}, {"folders", folders}};
  }
  const VocFolders& voc = std::get<VocFolders>(files);
  json result = {{"voc", voc.annotations.string()}, {"pictures", voc.pictures.string()}};
  if (voc.list) result["list"] = voc.list->string();
  return result;
}

DetectionFiles detection_files_from_json(const json& from) {
  if (from.contains("coco")) {
    CocoFiles files;
    files.json = from.at("coco").get<std::string>();
    for (const json& folder : from.at("folders"))
      files.folders.emplace_back(folder.get<std::string>());
    return files;
  }
  VocFolders files;
  files.annotations = from.at("voc").get<std::string>();
  files.pictures = from.at("pictures").get<std::string>();
  if (from.contains("list")) files.list = from.at("list").get<std::string>();
  return files;
}

const char* exif_word(ExifFrame exif) {
  for (const auto& [value, name] : EnumNames<ExifFrame>::value)
    if (value == exif) return name;
  return "";
}
ExifFrame exif_of_word(const std::string& word) {
  for (const auto& [value, name] : EnumNames<ExifFrame>::value)
    if (word == name) return value;
  throw Error(cat("the run's record of its data is damaged: exif is \"", printable(word), "\""),
              "restore its run.json, or start a new run");
}

void add_to(Hasher& hasher, const DetectionData& data) {
  const auto add = [&](const std::string& text) {
    hasher.update(text);
    hasher.update(std::string_view("\n"));
  };
  for (const Category& category : data.categories) add(category.name);
  for (const Picture& picture : data.pictures)
    add(cat(picture.path.filename().string(), " ", picture.width, " ", picture.height));
  for (const Box& box : data.boxes)
    add(cat(box.picture, " ", box.category, " ", box.x, " ", box.y, " ", box.w, " ", box.h, " ",
            box.counts()));
}

}  // namespace

json to_json(const SetsRecord& record) {
  json result = {{"valid_share", record.valid_share},
                 {"seed", record.seed},
                 {"base", record.base},
                 {"novel", record.novel},
                 {"fingerprint", record.fingerprint}};
  // Default values are left out, as in records of older runs. Equal data then give equal records.
  if (record.exif != ExifFrame::automatic) result["exif"] = exif_word(record.exif);
  if (record.look) result["look"] = true;
  if (!record.contents.empty()) result["contents"] = record.contents;
  if (!record.has_files) return result;
  result["train"] = to_json(record.files.train);
  if (record.files.valid) result["valid"] = to_json(*record.files.valid);
  return result;
}

SetsRecord sets_record_from_json(const json& from) try {
  // assigned by field: g++ 12 destroys parts of an aggregate twice if a later part throws
  SetsRecord record;
  record.has_files = from.contains("train");
  if (record.has_files) record.files.train = detection_files_from_json(from.at("train"));
  if (from.contains("valid")) record.files.valid = detection_files_from_json(from.at("valid"));
  record.valid_share = from.at("valid_share");
  record.seed = from.at("seed");
  from.at("base").get_to(record.base);
  from.at("novel").get_to(record.novel);
  from.at("fingerprint").get_to(record.fingerprint);
  record.exif = exif_of_word(from.value("exif", "auto"));
  record.look = from.value("look", false);
  record.contents = from.value("contents", "");
  return record;
} catch (const json::exception& error) {
  throw Error(cat("the run's record of its data is damaged: ", error.what()),
              "restore its run.json, or start a new run");
}

std::string fingerprint_of(const DetectionData& train, const DetectionData& valid) {
  Hasher hasher;
  add_to(hasher, train);
  add_to(hasher, valid);
  return hasher.hex();
}

std::string contents_of(const DetectionData& train, const DetectionData& valid) {
  Hasher hasher;
  for (const DetectionData* data : {&train, &valid}) {
    for (const Picture& picture : data->pictures) hasher.update(cat(picture.content_hash, "\n"));
    hasher.update(std::string_view("\n"));
  }
  return hasher.hex();
}

Sets read_sets(const SetsRecord& record, bool look) {
  DetectionSets read = read_detection_sets(record.files, record.valid_share, record.seed,
                                           {.exif = record.exif, .look = look || record.look});
  if (!record.fingerprint.empty() && fingerprint_of(read.train, read.valid) != record.fingerprint)
    throw Error(cat("the pictures or boxes of ", describe(record.files.train),
                    " have changed since the run began"),
                "restore them, or start a new run; a run of an older version, or with another "
                "data.exif, may have read the same files otherwise");
  if (look && !record.contents.empty() && contents_of(read.train, read.valid) != record.contents)
    throw Error(cat("pictures of ", describe(record.files.train),
                    " have other contents than when the run began"),
                "restore the files, or start a new run; init.from=RUN starts it with the weights");
  return with_split(std::move(read), record);
}

bool needs_look(const DetectionData& train, const DetectionData& valid) {
  const auto needs = [](const FrameCounts& frames) {
    return frames.oriented > 0 || frames.exchanged > 0;
  };
  return needs(train.frames) || needs(valid.frames);
}

Sets with_split(DetectionSets read, const SetsRecord& record) {
  Sets sets{.train = std::move(read.train),
            .valid = std::move(read.valid),
            .split = {},
            .warnings = std::move(read.warnings)};
  const auto indexes = [&](const std::vector<std::string>& names) {
    std::vector<int> found;
    for (const std::string& name : names) {
      const int index = sets.train.category_index(name);
      if (index < 0)
        throw Error(cat("the run's class ", name, " is not in ", sets.train.name),
                    "restore the annotations, or start a new run");
      found.push_back(index);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  sets.split = {.base = indexes(record.base), .novel = indexes(record.novel)};
  return sets;
}

std::vector<int> used_classes(const ClassSplit& split, ClassUse use) {
  if (use == ClassUse::base) return split.base;
  if (use == ClassUse::novel) return split.novel;
  std::vector<int> all;
  std::merge(split.base.begin(), split.base.end(), split.novel.begin(), split.novel.end(),
             std::back_inserter(all));
  return all;
}

void keep_shots(DetectionData& data, const std::vector<int>& classes, std::int64_t shots,
                std::uint64_t seed) {
  if (shots == 0) return;
  std::vector<std::size_t> order(data.pictures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed, RandomStream::draw, 0, 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (const int category : classes) {
    std::vector<std::vector<std::size_t>> places;  // indices of the class's boxes, by picture
    std::size_t most = 0;
    for (const std::size_t picture : order) {
      std::vector<std::size_t> here;
      for (std::size_t i = data.first_box[picture]; i < data.first_box[picture + 1]; ++i)
        if (data.boxes[i].category == category && data.boxes[i].counts()) here.push_back(i);
      most = std::max(most, here.size());
      places.push_back(std::move(here));
    }
    std::int64_t left = shots;
    for (std::size_t turn = 0; turn < most; ++turn)
      for (const std::vector<std::size_t>& here : places)
        if (turn < here.size() && --left < 0) data.boxes[here[turn]].difficult = true;
  }
}

std::int64_t most_boxes(const DetectionData& data) {
  std::size_t most = 1;
  for (std::size_t i = 0; i + 1 < data.first_box.size(); ++i)
    most = std::max(most, data.first_box[i + 1] - data.first_box[i]);
  return static_cast<std::int64_t>(most);
}

}  // namespace lockstep::fewshot
