// Detections as CSV.
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/base/json/json_text.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
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

std::string last_part(const std::string& file_name) {
  const std::size_t slash = file_name.find_last_of("/\\");
  return slash == file_name.npos ? file_name : file_name.substr(slash + 1);
}

// Ids by name; nothing for a name that several have.
using NameIds = std::map<std::string, std::optional<std::int64_t>>;
void add_name(NameIds& ids, const std::string& name, std::int64_t id) {
  if (name.empty()) return;
  const auto [at, is_new] = ids.emplace(name, id);
  if (!is_new) at->second.reset();
}

// Null: nothing has that name.
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

struct PictureNameIds {
  NameIds whole, stems;
};

std::int64_t picture_in(const CsvTable& table, std::size_t row, std::size_t column,
                        const PictureNameIds& ids) {
  if (const std::int64_t* const id = find_name(table, row, column, ids.whole)) return *id;
  const std::string& name = table.rows[row][column];
  const auto stem = ids.stems.find(std::string(stem_of(name)));
  if (stem != ids.stems.end() && stem->second) return *stem->second;
  std::vector<std::string> known;
  for (const auto& [one, id] : ids.whole) known.push_back(one);
  const std::string near = nearest(name, known);
  throw Error(cat(table.place(row), ": unknown ", table.columns[column], " '",
                  printable(name.substr(0, 200)), "'"),
              near.empty() ? "" : cat("the nearest is ", near));
}

double number_in(const CsvTable& table, std::size_t row, std::size_t column) {
  const std::optional<double> number = table.number(row, column);
  if (!number || !std::isfinite(*number))
    throw Error(cat(table.place(row), ": ", table.columns[column], " must be a finite number"));
  return *number;
}

ReadDetections detections_of(const CsvTable& table, const KnownIds& known) {
  PictureNameIds pictures;
  NameIds classes;
  for (const NamedPicture& one : known.pictures) {
    add_name(pictures.whole, last_part(one.file_name), one.picture);
    add_name(pictures.stems, std::string(stem_of(one.file_name)), one.picture);
  }
  for (const NamedClass& one : known.classes) add_name(classes, one.name, one.category);
  const std::size_t x_min = table.column("x_min"), y_min = table.column("y_min"),
                    x_max = table.column("x_max"), y_max = table.column("y_max"),
                    file = table.column("filename"), name = table.column("class_name"),
                    score = table.column("similarity_score");
  ReadDetections read;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    Detection one{.picture = picture_in(table, row, file, pictures),
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
