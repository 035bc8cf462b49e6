#include "recipes/gbdt/train/artefacts.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/run/predictions/item_table.h"

namespace lockstep::gbdt {

void write_text(const std::filesystem::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) throw Error(cat("cannot write ", file.string(), ": ", errno_text(errno)));
}

void write_gzip(const std::filesystem::path& file, std::string_view text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory = 8,
                level = 4;  // 4 % larger than with 6, in 2/3 of the time
  if (deflateInit2(&stream, level, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(cat("cannot compress ", file.string()));
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw Error(cat("cannot compress ", file.string()));
  write_text(file, packed);
}

std::string read_gzip(const std::filesystem::path& file) {
  constexpr int gzip_window = 15 + 16;
  constexpr std::size_t most_bytes = std::size_t{1} << 30, step_bytes = std::size_t{1} << 18;
  const std::string packed = read_file(file, data_bytes);
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) throw Error(cat("cannot unpack ", file.string()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int result = Z_OK;
  while (result == Z_OK && text.size() < most_bytes) {
    const std::size_t before = text.size();
    text.resize(before + step_bytes);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(step_bytes);
    result = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) throw Error(cat(file.string(), " is no whole file of gzip"));
  return text;
}

namespace {

Cell label_cell(const SymbolData& data, std::size_t row) {
  const double label = data.labels[row];
  if (std::isnan(label)) return {};
  if (!data.classes.empty()) return data.classes[static_cast<std::size_t>(label)];
  return label;
}

const char* stamp_name(const Bars& bars) { return bars.timeless ? "row" : "timestamp"; }

const std::string& group_name(const Bars& bars, std::size_t row) {
  return bars.group_names[static_cast<std::size_t>(bars.groups[row])];
}

}  // namespace

nlohmann::json recorded_options(const GbdtOptions& options, const std::string& of_batch) {
  nlohmann::json recorded = options.table.to_json();
  recorded.erase("run.root");
  for (const std::string& word : split(of_batch, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) continue;
    const std::string key = word.substr(0, equals);
    const auto value = whole_number<std::int64_t>(word.substr(equals + 1));
    if (value && recorded.contains(key) && !options.table.is_given(key)) recorded[key] = *value;
  }
  return recorded;
}

std::string labels_csv(const SymbolData& data, const WindowRows& rows) {
  const auto cell = [](double value) { return std::isnan(value) ? Cell{} : Cell{value}; };
  const bool grouped = !data.bars.groups.empty();
  std::string text =
      cat(stamp_name(data.bars), ",split,close,forward_return,label", grouped ? ",group\n" : "\n");
  const auto add = [&](const char* split, const std::vector<std::size_t>& part) {
    for (const std::size_t row : part) {
      std::vector<Cell> cells = {data.bars.stamps[row], std::string(split),
                                 data.bars.close.empty() ? Cell{} : Cell{data.bars.close[row]},
                                 cell(data.returns[row]), label_cell(data, row)};
      if (grouped) cells.emplace_back(group_name(data.bars, row));
      text += csv_line(cells);
    }
  };
  add("train", rows.train);
  add("valid", rows.valid);
  add("test", rows.test);
  return text;
}

std::string importance_csv(const std::vector<std::string>& names, std::span<const double> splits,
                           std::span<const double> gains) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return splits[a] != splits[b] ? splits[a] > splits[b] : gains[a] > gains[b];
  });
  std::string text = "feature,importance,rank,gain\n";
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t i = order[rank];
    text += csv_line({names[i], static_cast<std::int64_t>(splits[i]),
                      static_cast<std::int64_t>(rank + 1), gains[i]});
  }
  return text;
}

std::vector<std::string> prediction_columns(const Objective& objective, const SymbolData& data) {
  std::vector<std::string> columns = {stamp_name(data.bars), "symbol", "window"};
  if (!data.bars.groups.empty()) columns.emplace_back("group");
  columns.emplace_back("label");
  columns.emplace_back(objective.task == Task::binary    ? "probability"
                       : objective.task == Task::ranking ? "score"
                                                         : "prediction");
  if (objective.task == Task::multiclass)
    for (const std::string& name : data.classes) columns.push_back(cat("probability_", name));
  return columns;
}

std::string prediction_lines(const Objective& objective, const SymbolData& data,
                             const std::string& window_label, const std::vector<std::size_t>& rows,
                             std::span<const double> scores) {
  const std::size_t outputs = rows.empty() ? 1 : scores.size() / rows.size();
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Cell> cells = {data.bars.stamps[rows[i]], data.bars.symbol, window_label};
    if (!data.bars.groups.empty()) cells.emplace_back(group_name(data.bars, rows[i]));
    cells.push_back(label_cell(data, rows[i]));
    const auto of_row = scores.subspan(i * outputs, outputs);
    if (objective.task == Task::multiclass)
      cells.emplace_back(data.classes[static_cast<std::size_t>(
          std::max_element(of_row.begin(), of_row.end()) - of_row.begin())]);
    cells.insert(cells.end(), of_row.begin(), of_row.end());
    text += csv_line(cells);
  }
  return text;
}

std::string header_line(const std::vector<std::string>& columns) {
  return csv_line({columns.begin(), columns.end()});
}

}  // namespace lockstep::gbdt
