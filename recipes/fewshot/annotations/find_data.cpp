// Tries common layouts of data sets one after the other.
#include "recipes/fewshot/annotations/find_data.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <span>

#include "core/base/error.h"
#include "core/base/text/glob.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/file_names.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

// Common names of validation sets.
constexpr std::array<const char*, 3> valid_words{"valid", "val", "validation"};
constexpr std::array<const char*, 1> test_words{"test"};
constexpr const char* roboflow_json = "_annotations.coco.json";

bool is_any(const std::string& name, std::span<const char* const> words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}
bool holds_any(const std::string& name, std::span<const char* const> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return name.find(word) != name.npos; });
}

// Replaces the last "train" in the name by `word` and keeps the capitals. Returns "" if there is
// none.
std::string with_word(const std::string& name, std::string word) {
  const std::size_t at = in_small_letters(name).rfind("train");
  if (at == name.npos) return "";
  const auto is_capital = [&](std::size_t place) {
    return std::isupper(static_cast<unsigned char>(name[place])) != 0;
  };
  const auto raise = [](char& c) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  };
  if (is_capital(at)) raise(word[0]);
  if (is_capital(at + 1)) std::for_each(word.begin(), word.end(), raise);
  return name.substr(0, at) + word + name.substr(at + 5);
}

// Replaces "train" in the file's name by each of `words`, and returns the first path that exists.
// If the file's name has no "train", the name of its folder is changed.
std::optional<fs::path> counterpart(const fs::path& train,
                                    const std::function<bool(const fs::path&)>& is_there,
                                    std::span<const char* const> words = valid_words) {
  const fs::path folder = train.parent_path();
  for (const char* word : words) {
    const std::string name = with_word(train.filename().string(), word);
    const std::string folder_name = with_word(folder.filename().string(), word);
    if (!name.empty() && is_there(folder / name)) return folder / name;
    if (name.empty() && !folder_name.empty() &&
        is_there(folder.parent_path() / folder_name / train.filename()))
      return folder.parent_path() / folder_name / train.filename();
  }
  return std::nullopt;
}

// Takes `train` as the training set and looks for its validation set. `is_there` tells whether a
// path is a set.
template <class Files>
FoundData with_counterpart(const fs::path& train, const Files& files,
                           const std::function<bool(const fs::path&)>& is_there) {
  FoundData found{.train = files(train), .valid = {}, .notes = {}};
  if (const auto valid = counterpart(train, is_there))
    found.valid = files(*valid);
  else if (const auto test = counterpart(train, is_there, test_words))
    found.notes.push_back(cat("the test set ", test->string(), " is not used; data.valid=",
                              shell_word(test->string()), " validates on it"));
  return found;
}

std::string without(std::string name, const std::string& prefix, const std::string& suffix) {
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  if (name.ends_with(suffix)) name.erase(name.size() - suffix.size());
  return name;
}

// Splits a name into words in small letters: "val2017_Boxes" gives val and boxes.
std::vector<std::string> words_in(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : in_small_letters(name)) {
    if (c >= 'a' && c <= 'z')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}
bool has_word(const std::string& name, std::span<const char* const> words) {
  const std::vector<std::string> all = words_in(name);
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& word) { return is_any(word, words); });
}
bool may_be_validation(const std::string& name) {
  constexpr std::array<const char*, 6> valid{"valid", "val",  "validation",
                                             "dev",   "eval", "evaluation"};
  constexpr std::array<const char*, 1> train{"train"};
  return has_word(name, valid) && !has_word(name, train);
}

void add(std::vector<fs::path>& folders, const fs::path& folder) {
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

CocoFiles coco_files(const fs::path& json) {
  CocoFiles files{.json = json, .folders = {}};
  const std::string stem = json.stem().string();
  std::vector<std::string> names{without(stem, "instances_", "_coco"), stem};
  if (is_any(names[0], valid_words))
    names.insert(names.end(), valid_words.begin(), valid_words.end());  // val.json next to valid/
  std::vector<fs::path> roots{json.parent_path()};
  if (in_small_letters(roots[0].filename().string()) == "annotations")
    roots.push_back(roots[0].parent_path());
  if (json.filename() == roboflow_json) add(files.folders, roots[0]);
  for (const fs::path& root : roots)
    for (const std::string& name : names) {
      add(files.folders, root / name);
      add(files.folders, root / "images" / name);
      add(files.folders, root / (name + "_images"));
    }
  if (stem == "labels") add(files.folders, roots[0] / "data");  // the layout of FiftyOne
  if (std::none_of(files.folders.begin(), files.folders.end(), is_folder))
    for (const std::string& word : words_in(stem))  // val_annotations.json next to val_images/
      for (const fs::path& root : roots)
        for (const fs::path& folder :
             {root / word, root / "images" / word, root / (word + "_images")})
          if (is_folder(folder)) add(files.folders, folder);
  for (const fs::path& root : roots) {
    add(files.folders, root / "images");
    add(files.folders, root);
  }
  return files;
}

// JSON files that may be validation sets by their names, but that counterpart() does not try. They
// are in the folder of the training file, or in folders next to that folder.
std::vector<fs::path> other_valid_jsons(const fs::path& train) {
  std::vector<fs::path> found;
  const fs::path folder = train.parent_path();
  for (const std::string& name : files_ending_in(folder, {".json"}))
    if (may_be_validation(fs::path(name).stem().string()) && folder / name != train)
      found.push_back(folder / name);
  const auto names_train = [](const fs::path& path) {
    return in_small_letters(path.filename().string()).find("train") != std::string::npos;
  };
  std::error_code ignored;
  if (!names_train(train) && names_train(folder))
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.parent_path(), ignored))
      if (may_be_validation(entry.path().filename().string()) &&
          is_file(entry.path() / train.filename()))
        found.push_back(entry.path() / train.filename());
  std::sort(found.begin(), found.end());
  return found;
}

FoundData coco_data(const fs::path& train) {
  FoundData found = with_counterpart(train, coco_files, is_file);
  if (found.valid) return found;
  for (const fs::path& json : other_valid_jsons(train))
    found.notes.push_back(cat(json.string(),
                              " is not used; if it is the validation set, data.valid=",
                              shell_word(json.string()), " validates on it"));
  return found;
}

// The paths of the folder's JSON files whose names in small letters match the pattern.
std::vector<fs::path> matching(const fs::path& folder, const std::string& pattern) {
  std::vector<fs::path> paths;
  if (!is_folder(folder)) return paths;
  for (const std::string& name : files_ending_in(folder, {".json"}))
    if (glob_matches(pattern, in_small_letters(name))) paths.push_back(folder / name);
  return paths;
}

[[noreturn]] void several(const fs::path& folder, const std::vector<fs::path>& sets) {
  std::vector<std::string> names;
  for (const fs::path& set : sets) names.push_back(set.string());
  const std::string last = names.back();
  names.pop_back();
  throw Error(cat(folder.string(), " holds several sets: ", join(names, ", "), " and ", last,
                  sets.size() == 2 ? " may both be meant" : " may all be meant"),
              cat("name one of them: ", shell_word(cat("data.path=", last))));
}

bool has_xml(const fs::path& folder) { return has_file_ending_in(folder, ".xml"); }

// Finds the pictures of Pascal VOC's xml files in a folder next to Annotations/. The pictures of
// annotations/train/ may also be in images/train/.
fs::path voc_pictures(const fs::path& annotations) {
  const auto is_named = [](const fs::path& folder) {
    return in_small_letters(folder.filename().string()) == "annotations";
  };
  const bool is_below = !is_named(annotations) && is_named(annotations.parent_path());
  if (!is_named(annotations) && !is_below) return annotations;
  const fs::path root =
      is_below ? annotations.parent_path().parent_path() : annotations.parent_path();
  for (const char* name : {"JPEGImages", "images", "Images"}) {
    const fs::path folder = root / name;
    if (is_below && is_folder(folder / annotations.filename()))
      return folder / annotations.filename();
    if (is_folder(folder)) return folder;
  }
  return annotations;
}

VocFolders voc_files(const fs::path& annotations) {
  return {.annotations = annotations, .pictures = voc_pictures(annotations), .list = {}};
}

VocFolders voc_list(const fs::path& annotations, const fs::path& list) {
  VocFolders files = voc_files(annotations);
  files.list = list;
  return files;
}

// annotations: the folder Annotations/. ImageSets/ next to it contains lists, if there are any.
FoundData voc_data(const fs::path& annotations) {
  const fs::path lists = annotations.parent_path() / "ImageSets" / "Main";
  // Names of lists by the same names in small letters: CVAT writes Train.txt.
  std::map<std::string, std::string> names;
  if (is_folder(lists))
    for (const std::string& name : files_ending_in(lists, {".txt"}))
      names.emplace(in_small_letters(name), name);
  const auto list = [&](const std::string& name) {
    return voc_list(annotations, lists / names.at(name));
  };
  const auto both = [&](const std::string& train, const std::string& valid) {
    return names.contains(train) && names.contains(valid);
  };
  for (const char* word : valid_words)
    if (const std::string valid = cat(word, ".txt"); both("train.txt", valid))
      return {.train = list("train.txt"), .valid = list(valid), .notes = {}};
  if (both("trainval.txt", "test.txt"))
    return {.train = list("trainval.txt"), .valid = list("test.txt"), .notes = {}};
  for (const char* name : {"trainval.txt", "train.txt"})
    if (names.contains(name)) return {.train = list(name), .valid = {}, .notes = {}};
  return {.train = voc_files(annotations), .valid = {}, .notes = {}};
}

// Files annotations/instances_*.json whose names say neither validation nor test. CVAT and Datumaro
// use the name of a subset, or "default".
std::vector<fs::path> other_instances(const fs::path& annotations) {
  std::vector<fs::path> paths = matching(annotations, "instances_*.json");
  std::erase_if(paths, [](const fs::path& path) {
    const std::string name = in_small_letters(path.stem().string());
    return holds_any(name, valid_words) || holds_any(name, test_words);
  });
  return paths;
}

// Candidates for the training set: files that are named for training. If there are none, files with
// names that a single set usually has.
std::vector<fs::path> coco_candidates(const fs::path& root) {
  const fs::path annotations = root / "annotations";
  std::vector<fs::path> found;
  const auto take = [&](const fs::path& json) {
    if (is_file(json)) found.push_back(json);
  };
  const auto take_all = [&](const std::vector<fs::path>& paths) {
    found.insert(found.end(), paths.begin(), paths.end());
  };
  take(root / "train.json");
  take(root / "train_coco.json");
  for (const fs::path& folder : {root, annotations})
    take_all(matching(folder, "instances_train*.json"));
  take(annotations / "train.json");
  take(root / "train" / roboflow_json);
  if (!found.empty()) return found;
  for (const char* name :
       {roboflow_json, "annotations.json", "instances.json", "result.json", "labels.json"})
    take(root / name);
  take_all(other_instances(annotations));
  return found;
}

std::optional<FoundData> find_voc(const fs::path& root) {
  for (const char* name : {"Annotations", "annotations"}) {
    const fs::path annotations = root / name;
    if (has_xml(annotations)) return voc_data(annotations);
    if (has_xml(annotations / "train"))
      return with_counterpart(annotations / "train", voc_files, has_xml);
    if (has_file_below_ending_in(annotations, ".xml")) return voc_data(annotations);
  }
  if (has_xml(root / "train")) return with_counterpart(root / "train", voc_files, has_xml);
  if (has_xml(root)) return FoundData{.train = voc_files(root), .valid = {}, .notes = {}};
  std::vector<fs::path> below;
  for (const fs::path& folder : {root, root / "VOCdevkit"}) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      if (glob_matches("VOC20*", entry->path().filename().string()) &&
          has_xml(entry->path() / "Annotations"))
        below.push_back(entry->path());
  }
  std::sort(below.begin(), below.end());
  if (below.size() > 1) several(root, below);
  if (below.empty()) return std::nullopt;
  return voc_data(below[0] / "Annotations");
}

std::optional<FoundData> find_any(const fs::path& root) {
  std::vector<fs::path> sets = coco_candidates(root);
  if (sets.empty()) return find_voc(root);
  // Only this folder is checked for VOC too, because a search through many pictures takes long.
  if (has_xml(root / "Annotations")) sets.push_back(root / "Annotations");
  if (sets.size() > 1) several(root, sets);
  return coco_data(sets[0]);
}

// Throws Error for folders in the YOLO formats of Ultralytics, Roboflow and Darknet.
void refuse_yolo(const fs::path& root) {
  std::string seen;
  for (const char* name : {"data.yaml", "dataset.yaml", "data.yml", "obj.data"})
    if (seen.empty() && is_file(root / name)) seen = name;
  for (const char* name : {"labels", "labels/train", "train/labels"})
    if (seen.empty() && has_file_ending_in(root / name, ".txt")) seen = cat(name, "/*.txt");
  if (seen.empty()) return;
  throw Error(cat(root.string(), " is a set for YOLO (", seen, "), a format that is not read"),
              cat("export it as COCO from the tool that made it, or convert it by Datumaro: datum "
                  "convert -i ",
                  shell_word(root.string()), " -f coco_instances -o OUT -- --save-media"));
}

// Lists JSON files that were found instead of a set: "; it has a.json and b.json".
std::string other_jsons(const fs::path& root) {
  std::vector<std::string> names;
  constexpr std::size_t most = 8;
  for (const char* folder : {"", "annotations", "train", "valid", "test"})
    for (const fs::path& json : matching(root / folder, "*.json"))
      if (names.size() < most) names.push_back(json.lexically_relative(root).string());
  return names.empty() ? "" : cat("; it has ", join(names, ", "));
}

// list: ROOT/ImageSets/Main/NAME.txt
VocFolders listed(const fs::path& list) {
  const fs::path root = fs::absolute(list).parent_path().parent_path().parent_path();
  if (!is_folder(root / "Annotations"))
    throw Error(cat(list.string(), " is no list of a Pascal VOC set: ",
                    (root / "Annotations").string(), " is not there"),
                "such a list lies in ImageSets/Main, beside Annotations and JPEGImages");
  return voc_list(root / "Annotations", list);
}

void check_there(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(cat(path.string(), " is not there"), "give a folder, a COCO json or a VOC list");
}

}  // namespace

std::string describe(const DetectionFiles& files) {
  if (const auto* coco = std::get_if<CocoFiles>(&files)) return coco->json.string();
  const auto& voc = std::get<VocFolders>(files);
  return voc.list ? cat(voc.annotations.string(), " (", voc.list->filename().string(), ")")
                  : voc.annotations.string();
}

FoundData find_detection_data(const fs::path& path) {
  check_there(path);
  if (!is_folder(path)) {
    const fs::path whole = fs::absolute(path).lexically_normal();
    const std::string ending = in_small_letters(path.extension().string());
    if (ending == ".yaml" || ending == ".yml") refuse_yolo(whole.parent_path());
    return ending == ".txt" ? with_counterpart(whole, listed, is_file) : coco_data(whole);
  }
  const fs::path root = fs::absolute(path / "").lexically_normal().parent_path();
  if (auto found = find_any(root)) return *std::move(found);
  refuse_yolo(root);
  throw Error(cat("no pictures with boxes were found in ", path.string(), other_jsons(root)),
              "looked for train.json, train_coco.json, instances_train*.json, annotations.json, "
              "instances.json, result.json, labels.json and _annotations.coco.json there, in "
              "annotations/ and in train/, for annotations/instances_*.json, and for xml files in "
              "Annotations/, annotations/, train/, VOC20*/ and there; or name a json by "
              "data.path=FILE");
}

DetectionFiles name_detection_files(const fs::path& annotations, const fs::path& pictures) {
  check_there(annotations);
  const fs::path whole = fs::absolute(annotations / "").lexically_normal().parent_path();
  DetectionFiles files;
  if (is_folder(annotations))
    files = voc_files(whole);
  else if (annotations.extension() == ".txt")
    files = listed(fs::absolute(annotations));
  else
    files = coco_files(fs::absolute(annotations).lexically_normal());
  if (!pictures.empty()) take_pictures_from(pictures, files);
  return files;
}

void take_pictures_from(const fs::path& folder, DetectionFiles& files) {
  if (!is_folder(folder))
    throw Error(cat(folder.string(), " is no folder"), "name the folder of the pictures");
  if (auto* coco = std::get_if<CocoFiles>(&files))
    coco->folders = {folder};
  else
    std::get<VocFolders>(files).pictures = folder;
}

}  // namespace lockstep::fewshot
