// Layouts of data sets, tried one after the other.
#include "recipes/fewshot/annotations/find_data.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/error.h"
#include "base/glob.h"
#include "base/text.h"
#include "recipes/fewshot/annotations/file_names.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

// How people name what they validate on.
constexpr std::array<const char*, 3> valid_words{"valid", "val", "validation"};
constexpr const char* roboflow_json = "_annotations.coco.json";

// The name with its last "train" as another word; "" if it has none.
std::string with_word(const std::string& name, const char* word) {
  const std::size_t at = name.rfind("train");
  if (at == name.npos) return "";
  return name.substr(0, at) + word + name.substr(at + 5);
}

// The path with "train" in its name, or else in its folder's, as each of the words, if that is
// there.
std::optional<fs::path> counterpart(const fs::path& train,
                                    const std::function<bool(const fs::path&)>& is_there) {
  const fs::path folder = train.parent_path();
  for (const char* word : valid_words) {
    const std::string name = with_word(train.filename().string(), word);
    const std::string folder_name = with_word(folder.filename().string(), word);
    if (!name.empty() && is_there(folder / name)) return folder / name;
    if (name.empty() && !folder_name.empty() &&
        is_there(folder.parent_path() / folder_name / train.filename()))
      return folder.parent_path() / folder_name / train.filename();
  }
  return std::nullopt;
}

std::string without(std::string name, const std::string& prefix, const std::string& suffix) {
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  if (name.ends_with(suffix)) name.erase(name.size() - suffix.size());
  return name;
}

void add(std::vector<fs::path>& folders, const fs::path& folder) {
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

CocoFiles coco_files(const fs::path& json) {
  CocoFiles files{.json = json, .folders = {}};
  const std::string stem = json.stem().string();
  std::vector<std::string> names{without(stem, "instances_", "_coco"), stem};
  if (std::find(valid_words.begin(), valid_words.end(), names[0]) != valid_words.end())
    names.insert(names.end(), valid_words.begin(), valid_words.end());  // val.json beside valid/
  std::vector<fs::path> roots{json.parent_path()};
  if (roots[0].filename() == "annotations") roots.push_back(roots[0].parent_path());
  if (json.filename() == roboflow_json) add(files.folders, roots[0]);
  for (const fs::path& root : roots)
    for (const std::string& name : names) {
      add(files.folders, root / name);
      add(files.folders, root / "images" / name);
      add(files.folders, root / (name + "_images"));
    }
  for (const fs::path& root : roots) {
    add(files.folders, root / "images");
    add(files.folders, root);
  }
  return files;
}

FoundData coco_data(const fs::path& train) {
  FoundData found{.train = coco_files(train), .valid = {}};
  if (const auto valid = counterpart(train, is_file)) found.valid = coco_files(*valid);
  return found;
}

// Files of a folder whose names match, as paths.
std::vector<fs::path> matching(const fs::path& folder, const std::string& pattern) {
  std::vector<fs::path> paths;
  if (!is_folder(folder)) return paths;
  for (const std::string& name : files_ending_in(folder, {".json"}))
    if (glob_matches(pattern, name)) paths.push_back(folder / name);
  return paths;
}

[[noreturn]] void several(const fs::path& first, const fs::path& second) {
  throw Error(cat(first.string(), " and ", second.string(), " may both be meant"),
              cat("name one of them: data.path=", second.string()));
}

bool has_xml(const fs::path& folder) {
  return is_folder(folder) && !files_ending_in(folder, {".xml"}).empty();
}

// Where the pictures of VOC's xml files lie.
fs::path voc_pictures(const fs::path& annotations) {
  if (annotations.filename() != "Annotations") return annotations;
  for (const char* name : {"JPEGImages", "images"})
    if (const fs::path folder = annotations.parent_path() / name; is_folder(folder)) return folder;
  return annotations;
}

VocFolders voc_files(const fs::path& annotations) {
  return {.annotations = annotations, .pictures = voc_pictures(annotations), .list = {}};
}

VocFolders voc_list(const fs::path& root, const fs::path& list) {
  VocFolders files = voc_files(root / "Annotations");
  files.list = list;
  return files;
}

// root has Annotations/.
FoundData voc_data(const fs::path& root) {
  const fs::path lists = root / "ImageSets" / "Main";
  const auto both = [&](const char* train, const std::string& valid) {
    return is_file(lists / train) && is_file(lists / valid);
  };
  for (const char* word : valid_words)
    if (const std::string valid = cat(word, ".txt"); both("train.txt", valid))
      return {.train = voc_list(root, lists / "train.txt"), .valid = voc_list(root, lists / valid)};
  if (both("trainval.txt", "test.txt"))
    return {.train = voc_list(root, lists / "trainval.txt"),
            .valid = voc_list(root, lists / "test.txt")};
  for (const char* name : {"trainval.txt", "train.txt"})
    if (is_file(lists / name)) return {.train = voc_list(root, lists / name), .valid = {}};
  return {.train = voc_files(root / "Annotations"), .valid = {}};
}

std::optional<FoundData> find_coco(const fs::path& root) {
  const fs::path annotations = root / "annotations";
  for (const fs::path& json : {root / "train.json", root / "train_coco.json"})
    if (is_file(json)) return coco_data(json);
  for (const fs::path& folder : {root, annotations}) {
    const std::vector<fs::path> jsons = matching(folder, "instances_train*.json");
    if (jsons.size() > 1) several(jsons[0], jsons[1]);
    if (jsons.size() == 1) return coco_data(jsons[0]);
  }
  for (const fs::path& json :
       {annotations / "train.json", root / "train" / roboflow_json, root / roboflow_json,
        root / "annotations.json", root / "instances.json"})
    if (is_file(json)) return coco_data(json);
  return std::nullopt;
}

std::optional<FoundData> find_voc(const fs::path& root) {
  if (has_xml(root / "Annotations")) return voc_data(root);
  if (has_xml(root / "train")) {
    FoundData found{.train = voc_files(root / "train"), .valid = {}};
    if (const auto valid = counterpart(root / "train", has_xml)) found.valid = voc_files(*valid);
    return found;
  }
  if (has_xml(root)) return FoundData{.train = voc_files(root), .valid = {}};
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
  if (below.size() > 1) several(below[0], below[1]);
  if (below.empty()) return std::nullopt;
  return voc_data(below[0]);
}

// ROOT/ImageSets/Main/NAME.txt
VocFolders listed(const fs::path& list) {
  const fs::path root = fs::absolute(list).parent_path().parent_path().parent_path();
  if (!is_folder(root / "Annotations"))
    throw Error(cat(list.string(), " is no list of a Pascal VOC set: ",
                    (root / "Annotations").string(), " is not there"),
                "such a list lies in ImageSets/Main, beside Annotations and JPEGImages");
  return voc_list(root, list);
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
    if (path.extension() != ".txt") return coco_data(whole);
    FoundData found{.train = listed(whole), .valid = {}};
    if (const auto valid = counterpart(whole, is_file)) found.valid = listed(*valid);
    return found;
  }
  const fs::path root = fs::absolute(path / "").lexically_normal().parent_path();
  if (const auto found = find_coco(root)) return *found;
  if (const auto found = find_voc(root)) return *found;
  throw Error(cat("no pictures with boxes were found in ", path.string()),
              "looked for train.json, train_coco.json, instances_train*.json, annotations.json and "
              "_annotations.coco.json there, in annotations/ and in train/, and for xml files in "
              "Annotations/, train/, VOC20*/ and there; or name a json by data.path=FILE");
}

DetectionFiles name_detection_files(const fs::path& annotations, const fs::path& pictures) {
  check_there(annotations);
  const fs::path whole = fs::absolute(annotations / "").lexically_normal().parent_path();
  if (!pictures.empty() && !is_folder(pictures))
    throw Error(cat(pictures.string(), " is no folder"), "name the folder of the pictures");
  if (is_folder(annotations) || annotations.extension() == ".txt") {
    VocFolders files =
        is_folder(annotations) ? voc_files(whole) : listed(fs::absolute(annotations));
    if (!pictures.empty()) files.pictures = pictures;
    return files;
  }
  CocoFiles files = coco_files(fs::absolute(annotations).lexically_normal());
  if (!pictures.empty()) files.folders = {pictures};
  return files;
}

}  // namespace lockstep::fewshot
