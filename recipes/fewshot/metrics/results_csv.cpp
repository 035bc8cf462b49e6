// Reads and writes detections as CSV.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/json/json_text.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "recipes/fewshot/metrics/named_pictures.h"
#include "recipes/fewshot/metrics/result_files.h"

namespace lockstep::fewshot {
namespace {

constexpr const char* header = "x_min,y_min,x_max,y_max,filename,class_name,similarity_score\n";

template <class Named>
std::map<std::int64_t, std::string> names_of(std::span<const Named> all, std::int64_t Named::*id,
                                             std::string Named::*name) {
  std::map<std::int64_t, std::string> names;
  for (const Named& one : all) names.emplace(one.*id, csv_cell(one.*name));
  return names;
}

const std::string& name_of(const std::map<std::int64_t, std::string>& names, std::int64_t id,
                           const char* what) {
  const auto found = names.find(id);
  if (found == names.end()) throw Error(cat("a detection has the unknown ", what, " ", id));
  return found->second;
}

void append_number(std::string& text, double number, const Detection& of) {
  if (!std::isfinite(number))
    throw Error(cat("a detection of picture ", of.picture, " and category ", of.category,
                    " has a number that is not finite"));
  append_json_number(text, number);
}

// Ids by name; nothing for a name that several entries have.
using NameIds = std::map<std::string, std::optional<std::int64_t>>;
void add_name(NameIds& ids, const std::string& name, std::int64_t id) {
  if (name.empty()) return;
  const auto [at, is_new] = ids.emplace(name, id);
  if (!is_new) at->second.reset();
}

// Returns null if no entry has that name.
const std::int64_t* find_name(const CsvTable& table, std::size_t row, std::size_t column,
                              const NameIds& ids) {
  const std::string& name = table.rows[row][column];
  const auto found = ids.find(name);
  if (found == ids.end()) return nullptr;
  if (!found->second)
    throw Error(cat(table.place(row), ": the ", table.columns[column], " '",
                    printable(name.substr(0, 200)), "' is that of several in the ground truth"),
                "score detections.json, which goes by ids");
  return &*found->second;
}

// The hint for a name that fits several pictures. It says how the ground truth distinguishes them,
// if it does. Names without folders are compared by file name alone if no row has folders.
std::string hint_of_several(const std::vector<std::int64_t>& fitting, const KnownIds& known) {
  std::set<std::string> names;
  for (const NamedPicture& one : known.pictures)
    if (std::find(fitting.begin(), fitting.end(), one.picture) != fitting.end())
      names.insert(one.file_name);
  if (names.size() < fitting.size())
    return "the ground truth has one file_name for several images: give them different ones, or "
           "score detections.json, which goes by image_id";
  const auto in_folders = std::find_if(names.begin(), names.end(), NamedPictures::has_folders);
  if (in_folders != names.end() &&
      !std::all_of(names.begin(), names.end(), NamedPictures::has_folders))
    return cat("name pictures with their folders, as the ground truth does (",
               printable(*in_folders), "), or score detections.json, which goes by image_id");
  return cat("name it with its folders, as the ground truth does: ", printable(*names.begin()),
             " or ", printable(*names.rbegin()));
}

// has_folders: whether any name in the file contains folders.
std::int64_t picture_in(const CsvTable& table, std::size_t row, std::size_t column,
                        NamedPictures& pictures, const KnownIds& known, bool has_folders) {
  const std::string& name = table.rows[row][column];
  const std::string shown = cat("'", printable(name.substr(0, 200)), "'");
  const std::vector<std::int64_t>& fitting =
      has_folders ? pictures.find(name) : pictures.find_by_file(name);
  if (fitting.size() > 1)
    throw Error(cat(table.place(row), ": the ", table.columns[column], " ", shown,
                    " is that of several in the ground truth"),
                hint_of_several(fitting, known));
  if (fitting.empty()) {
    std::vector<std::string> names;
    for (const NamedPicture& one : known.pictures) names.push_back(one.file_name);
    const std::string near = nearest(name, names);
    throw Error(cat(table.place(row), ": unknown ", table.columns[column], " ", shown),
                near.empty() ? "" : cat("the nearest is ", near));
  }
  if (const std::string other = pictures.take(name, fitting[0]); !other.empty())
    throw Error(
        cat(table.place(row), ": the ", table.columns[column], " ", shown, " and '",
            printable(other), "' before it fit the same picture of the ground truth"),
        "a ground truth that names its images with their folders and endings tells them apart");
  return fitting[0];
}

double number_in(const CsvTable& table, std::size_t row, std::size_t column) {
  const std::optional<double> number = table.number(row, column);
  if (!number || !std::isfinite(*number))
    throw Error(cat(table.place(row), ": ", table.columns[column], " must be a finite number"));
  return *number;
}

ReadDetections detections_of(const CsvTable& table, const KnownIds& known) {
  NamedPictures pictures(known.pictures);
  NameIds classes;
  for (const NamedClass& one : known.classes) add_name(classes, one.name, one.category);
  const std::size_t x_min = table.column("x_min"), y_min = table.column("y_min"),
                    x_max = table.column("x_max"), y_max = table.column("y_max"),
                    file = table.column("filename"), name = table.column("class_name"),
                    score = table.column("similarity_score");
  const bool has_folders = std::any_of(
      table.rows.begin(), table.rows.end(),
      [&](const std::vector<std::string>& row) { return NamedPictures::has_folders(row[file]); });
  ReadDetections read;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    Detection one{.picture = picture_in(table, row, file, pictures, known, has_folders),
                  .x = number_in(table, row, x_min),
                  .y = number_in(table, row, y_min),
                  .score = number_in(table, row, score)};
    one.width = number_in(table, row, x_max) - one.x;
    one.height = number_in(table, row, y_max) - one.y;
    if (!(one.width >= 0 && one.height >= 0 && std::isfinite(one.width) &&
          std::isfinite(one.height)))
      throw Error(cat(table.place(row), ": x_max and y_max must not be below x_min and y_min"));
    const std::int64_t* const category = find_name(table, row, name, classes);
    if (category == nullptr) {
      if (read.of_other_classes++ == 0)
        read.first_other_class =
            cat("class_name '", printable(table.rows[row][name].substr(0, 200)), "'");
      continue;
    }
    one.category = *category;
    read.detections.push_back(one);
  }
  read.notes = pictures.notes();
  return read;
}

}  // namespace

std::string results_csv(std::span<const Detection> detections,
                        std::span<const NamedPicture> pictures,
                        std::span<const NamedClass> classes) {
  const auto files = names_of(pictures, &NamedPicture::picture, &NamedPicture::file_name);
  const auto names = names_of(classes, &NamedClass::category, &NamedClass::name);
  std::string text = header;
  for (const Detection& one : detections) {
    for (const double number : {one.x, one.y, one.x + one.width, one.y + one.height}) {
      append_number(text, number, one);
      text += ',';
    }
    text += name_of(files, one.picture, "picture") + ',';
    text += name_of(names, one.category, "category") + ',';
    append_number(text, one.score, one);
    text += '\n';
  }
  return text;
}

ReadDetections parse_results_csv(std::string_view text, const std::string& name,
                                 const KnownIds& known) {
  return detections_of(parse_csv(text, name, {.separator = ','}), known);
}

ReadDetections read_results_csv(const std::filesystem::path& path, const KnownIds& known) {
  return detections_of(read_csv(path, {.separator = ','}), known);
}

}  // namespace lockstep::fewshot
