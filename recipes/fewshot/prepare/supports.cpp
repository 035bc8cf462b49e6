#include "recipes/fewshot/prepare/supports.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/episodes/class_pictures.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

std::optional<std::size_t> find_column(const CsvTable& table,
                                       const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    if (found != table.columns.end())
      return static_cast<std::size_t>(found - table.columns.begin());
  }
  return std::nullopt;
}

std::size_t need_column(const CsvTable& table, const std::vector<std::string>& names) {
  if (const auto found = find_column(table, names)) return *found;
  throw Error(cat(table.name, " has no column ", names.front()),
              cat("it has ", join(table.columns, ", "),
                  "; a table of examples has file, class, x, y, w and h"));
}

// The columns of a box's four numbers. corners: whether the last two are x_max and y_max.
struct BoxColumns {
  std::array<std::size_t, 4> places{};
  bool corners = false;
};

std::string and_list(const std::vector<std::string>& words) {
  const std::vector<std::string> but_last(words.begin(), std::prev(words.end()));
  return but_last.empty() ? words.back() : cat(join(but_last, ", "), " and ", words.back());
}

std::optional<BoxColumns> box_columns(const CsvTable& table) {
  struct Names {
    std::array<std::string, 4> all;
    bool corners;
  };
  static const std::array<Names, 4> known = {{{{"x", "y", "w", "h"}, false},
                                              {{"x", "y", "width", "height"}, false},
                                              {{"x_min", "y_min", "x_max", "y_max"}, true},
                                              {{"xmin", "ymin", "xmax", "ymax"}, true}}};
  const Names* nearest = nullptr;
  std::vector<std::string> there;  // columns that exist among those of `nearest`
  for (const Names& names : known) {
    std::vector<std::string> found;
    BoxColumns columns{.places = {}, .corners = names.corners};
    for (std::size_t i = 0; i < 4; ++i)
      if (const auto place = find_column(table, {names.all[i]})) {
        columns.places[i] = *place;
        found.push_back(names.all[i]);
      }
    if (found.size() == 4) return columns;
    if (found.size() > there.size()) nearest = &names, there = found;
  }
  if (nearest != nullptr)
    throw Error(cat(table.name, " has ", and_list(there), ", but not all of ",
                    and_list({nearest->all.begin(), nearest->all.end()})),
                "give all four columns, or none where whole pictures are the examples");
  return std::nullopt;
}

// The box of a row, clipped to its picture. If all four cells are empty, the box is the whole
// picture.
Box box_of(const CsvTable& table, std::size_t row, const std::optional<BoxColumns>& columns,
           const Picture& picture) {
  std::array<std::optional<double>, 4> cells;
  int given = 0;
  if (columns)
    for (std::size_t i = 0; i < 4; ++i) {
      cells[i] = table.number(row, columns->places[i]);
      given += cells[i].has_value() ? 1 : 0;
    }
  if (given == 0)
    return {.w = static_cast<float>(picture.width), .h = static_cast<float>(picture.height)};
  if (given < 4)
    throw Error(cat(table.place(row), ": the box lacks ", 4 - given, " of its four numbers"),
                "give all four, or none for the whole picture");
  const double right = columns->corners ? *cells[2] : *cells[0] + *cells[2],
               bottom = columns->corners ? *cells[3] : *cells[1] + *cells[3];
  const double left = std::max(0.0, *cells[0]), top = std::max(0.0, *cells[1]);
  const double w = std::min<double>(picture.width, right) - left,
               h = std::min<double>(picture.height, bottom) - top;
  const bool finite = std::all_of(cells.begin(), cells.end(),
                                  [](const auto& cell) { return std::isfinite(*cell); });
  if (!finite || w < 1 || h < 1)
    throw Error(cat(table.place(row), ": the box ", general(*cells[0], 6), ", ",
                    general(*cells[1], 6), ", ", general(*cells[2], 6), ", ", general(*cells[3], 6),
                    " shows less than a pixel of ", picture.path.string(), ", which has ",
                    picture.width, " x ", picture.height),
                columns->corners ? "x_min, y_min, x_max, y_max are corners in pixels"
                                 : "x, y are the upper left corner, w and h the extents, in "
                                   "pixels");
  return {.x = static_cast<float>(left),
          .y = static_cast<float>(top),
          .w = static_cast<float>(w),
          .h = static_cast<float>(h)};
}

}  // namespace

SupportList read_supports(const fs::path& table_file, const fs::path& folder, ExifFrame exif) {
  const CsvTable table = read_csv(table_file);
  const std::size_t file = need_column(table, {"file", "filename", "image", "path"});
  const std::size_t label = need_column(table, {"class", "class_name", "label", "name"});
  const std::optional<BoxColumns> columns = box_columns(table);
  const fs::path base = folder.empty() ? table_file.parent_path() : folder;
  SupportList list;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& name = table.rows[row][label];
    if (name.empty()) throw Error(cat(table.place(row), ": the class has no name"));
    Picture picture{.id = static_cast<std::int64_t>(row) + 1,
                    .path = fs::absolute(base / table.rows[row][file]).lexically_normal()};
    std::error_code ignored;
    if (!fs::is_regular_file(picture.path, ignored))
      throw Error(cat(table.place(row), ": the picture ", picture.path.string(), " is not there"),
                  "names are of the table's folder, or of predict.supports_of");
    picture.frame = exif == ExifFrame::stored ? Frame::stored : Frame::turned;
    const ImageShape shape =
        read_picture_shape(picture.path, {.turn = picture.frame == Frame::turned});
    picture.width = shape.width;
    picture.height = shape.height;
    const Box box = box_of(table, row, columns, picture);
    auto found = std::find_if(list.begin(), list.end(),
                              [&](const SupportClass& one) { return one.name == name; });
    if (found == list.end()) {
      list.push_back({.name = name, .id = std::ssize(list) + 1, .novel = true, .examples = {}});
      found = std::prev(list.end());
    }
    found->examples.push_back({.picture = std::move(picture), .box = box});
  }
  if (list.empty())
    throw Error(cat(table.name, " has no rows"), "give at least one example of a class");
  return list;
}

SupportList supports_of_training(const Sets& sets, const std::vector<int>& classes,
                                 std::int64_t shots, std::uint64_t seed) {
  const ClassPictures pictures(sets.train);
  SupportList list;
  for (const int category : classes) {
    const auto at = static_cast<std::size_t>(category);
    SupportClass one{
        .name = sets.train.categories[at].name,
        .id = sets.train.categories[at].id,
        .novel = std::binary_search(sets.split.novel.begin(), sets.split.novel.end(), category),
        .examples = {}};
    std::vector<std::size_t> places(pictures.of(category).size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    Random random(seed, RandomStream::draw, 1, static_cast<std::uint64_t>(category));
    for (std::size_t i = places.size(); i > 1; --i)
      std::swap(places[i - 1], places[random.below(i)]);
    for (std::size_t i = 0; i < places.size() && std::ssize(one.examples) < shots; ++i) {
      const std::span<const int> boxes = pictures.boxes(category, places[i]);
      const Box& box =
          sets.train.boxes[static_cast<std::size_t>(boxes[random.below(boxes.size())])];
      one.examples.push_back(
          {.picture = sets.train.pictures[static_cast<std::size_t>(box.picture)], .box = box});
    }
    if (!one.examples.empty()) list.push_back(std::move(one));
  }
  return list;
}

}  // namespace lockstep::fewshot
