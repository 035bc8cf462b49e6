#include "recipes/gbdt/batch/since_training.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "recipes/gbdt/bars/stamp_column.h"
#include "recipes/gbdt/features/choose_features.h"
#include "recipes/gbdt/train/artefacts.h"

namespace lockstep::gbdt {
namespace {

constexpr double same_close = 1e-5;       // relative; differences by vendors' rounding are smaller
constexpr double same_prediction = 1e-9;  // tolerance for numbers that were written and read
constexpr std::size_t most_named = 3;

std::optional<CsvTable> table_of(const std::filesystem::path& file) {
  try {
    if (!std::filesystem::exists(file)) return std::nullopt;
    return parse_csv(file.extension() == ".gz" ? read_gzip(file) : read_file(file, data_bytes),
                     file.string());
  } catch (const Error&) {
    return std::nullopt;
  }
}

// ", as after a split of 2 for 1", or "" if the ratio is not a usual one.
std::string split_text(double ratio) {
  constexpr double near = 5e-3;
  constexpr std::array others = {std::pair{3, 2}, std::pair{4, 3}, std::pair{5, 4}, std::pair{5, 2},
                                 std::pair{5, 3}};
  const bool reverse = ratio > 1;
  const double times = reverse ? ratio : 1 / ratio;
  const auto is = [&](double other) { return std::abs(times / other - 1) < near; };
  const auto say = [&](double shares, int of) {
    const std::string many = general(shares, 4), few = std::to_string(of);
    return cat(", as after a ", reverse ? "reverse split of " : "split of ", reverse ? few : many,
               " for ", reverse ? many : few);
  };
  for (const auto& [many, few] : others)
    if (is(static_cast<double>(many) / few)) return say(many, few);
  const double whole = std::round(times);
  return whole >= 2 && whole <= 1000 && is(whole) ? say(whole, 1) : "";
}

// Whether two times are equal, even in different formats such as 2021-01-04 and 04-Jan-2021.
bool same_time(const std::string& a, const std::string& b) {
  StampColumn first(DateOrder::any), second(DateOrder::any);
  if (a == b) return true;
  if (!first.add(a) || !second.add(b) || !first.decide().decided || !second.decide().decided)
    return false;
  return first.stamps()[0].instant_s == second.stamps()[0].instant_s;
}

template <class Map>
std::string first_names(const Map& by_symbol) {
  std::vector<std::string> names;
  for (const auto& [symbol, value] : by_symbol)
    if (names.size() < most_named) names.push_back(symbol);
  return cat(join(names, ", "), by_symbol.size() > names.size()
                                    ? cat(" and ", by_symbol.size() - names.size(), " more")
                                    : "");
}

}  // namespace

void SinceTraining::index(const SymbolData& data) {
  if (indexed_ == &data) return;
  indexed_ = &data;
  places_.clear();
  for (std::size_t row = 0; row < data.bars.size(); ++row) places_[data.bars.stamps[row]] = row;
}

void SinceTraining::add(const WindowRecord& record, const GbdtOptions& options,
                        const SymbolData& data, std::span<const std::size_t> rows,
                        std::span<const double> scores) {
  const auto& then = record.metadata.at("data");
  if (options.made() || !options.computes_features() || data.bars.timeless ||
      !data.bars.groups.empty() || record.symbol != data.bars.symbol ||
      then.value("hash", "") == data.bars.hash)
    return;
  index(data);
  const auto unless_broken = [](const auto& compare) {
    try {
      compare();
    } catch (const Error&) {  // a table lacks its columns or has text for a number
    }
  };
  unless_broken([&] { compare_closes(record, data); });
  unless_broken([&] { compare_predictions(record, options.learns(), rows, scores); });
  if (options.feature_set != FeatureSet::v1) return;
  const std::vector<std::string>& names = data.features.names;
  uses_volume_ = uses_volume_ || std::any_of(names.begin(), names.end(), needs_volume);
  const auto found = then.find("first");
  const std::string first =
      found != then.end() && found->is_string() ? found->get<std::string>() : "";
  const std::string& now = data.bars.stamps.front();
  begin_unknown_ = begin_unknown_ || first.empty();
  if (!first.empty() && same_time(first, now)) return;
  if (!first.empty()) begins_[data.bars.symbol] = cat(now, " (in training at ", first, ")");
  measure_drift(data, rows);
}

// Compares features with those of a shorter file. The shorter file begins so late that the first
// used row has just enough bars before it.
void SinceTraining::measure_drift(const SymbolData& data, std::span<const std::size_t> rows) {
  if (rows.empty() || rows.front() <= warm_up_bars) return;
  const std::size_t cut = rows.front() - warm_up_bars;
  const auto rest = [&](const auto& column) {
    return std::decay_t<decltype(column)>(column.begin() + static_cast<std::ptrdiff_t>(cut),
                                          column.end());
  };
  Bars bars;
  bars.stamps = rest(data.bars.stamps);
  bars.high = rest(data.bars.high);
  bars.low = rest(data.bars.low);
  bars.close = rest(data.bars.close);
  bars.volume = rest(data.bars.volume);
  const FeatureTable later =
      choose_features(compute_features(bars, FeatureSet::v1), data.features.names);
  for (std::size_t f = 0; f < later.names.size(); ++f)
    for (const std::size_t row : rows) {
      const double is = data.features.row(row)[f];
      const double difference = std::abs(is - later.row(row - cut)[f]);
      const std::string& name = later.names[f];
      if (name == "vwap") drift_.vwap = std::max(drift_.vwap, difference / is);
      if (name.starts_with("ema_")) drift_.ema = std::max(drift_.ema, difference / is);
      if (name == "obv") drift_.obv = std::max(drift_.obv, difference);
    }
}

void SinceTraining::compare_closes(const WindowRecord& record, const SymbolData& data) {
  const auto labels = table_of(record.folder / "labels.csv.gz");
  if (!labels) return;
  const std::size_t stamp = labels->column("timestamp"), close = labels->column("close");
  Closes& closes = closes_[data.bars.symbol];
  closes.seen.resize(std::max(closes.seen.size(), data.bars.size()));
  for (std::size_t row = 0; row < labels->rows.size(); ++row) {
    const auto then = labels->number(row, close);
    if (!then || *then <= 0) continue;
    ++closes.trained;
    const auto place = places_.find(labels->rows[row][stamp]);
    if (place == places_.end()) continue;
    char& seen = closes.seen[place->second];
    if (seen == 0) {
      ++closes.found;
      seen = 1;
    }
    const double ratio = data.bars.close[place->second] / *then;
    if (std::abs(ratio - 1) <= same_close) continue;
    closes.low = closes.changed == 0 ? ratio : std::min(closes.low, ratio);
    closes.high = closes.changed == 0 ? ratio : std::max(closes.high, ratio);
    if (seen == 2) continue;
    ++closes.changed;
    seen = 2;
  }
}

void SinceTraining::compare_predictions(const WindowRecord& record, const Objective& objective,
                                        std::span<const std::size_t> rows,
                                        std::span<const double> scores) {
  const auto then = table_of(record.folder / "predictions.csv");
  if (!then || rows.empty()) return;
  const std::size_t outputs = scores.size() / rows.size(), columns = then->columns.size();
  if (columns < outputs) return;
  const std::size_t stamp = then->column("timestamp");
  std::unordered_map<std::size_t, std::size_t> used;  // maps rows of the data to indices
  for (std::size_t i = 0; i < rows.size(); ++i) used[rows[i]] = i;
  for (std::size_t row = 0; row < then->rows.size(); ++row) {
    const auto place = places_.find(then->rows[row][stamp]);
    const auto now = place == places_.end() ? used.end() : used.find(place->second);
    if (now == used.end()) continue;
    double largest = 0;
    bool turned = false;
    for (std::size_t i = 0; i < outputs; ++i) {  // outputs are in the last columns
      const double was = then->number(row, columns - outputs + i).value_or(0),
                   is = scores[now->second * outputs + i];
      largest = std::max(largest, std::abs(is - was));
      turned = objective.task == Task::binary && (is > 0.5) != (was > 0.5);
    }
    ++compared_;
    if (largest <= same_prediction * std::max(1.0, std::abs(scores[now->second * outputs])))
      continue;
    ++differ_;
    turned_ += turned ? 1 : 0;
    largest_ = std::max(largest_, largest);
    sum_ += largest;
  }
}

std::vector<std::string> SinceTraining::close_notes() const {
  std::vector<std::string> notes;
  std::map<std::string, const Closes*> gone, changed;
  for (const auto& [symbol, closes] : closes_)
    if (closes.trained > 0 && closes.found == 0)
      gone[symbol] = &closes;
    else if (closes.changed > 0)
      changed[symbol] = &closes;
  if (!gone.empty())
    notes.push_back(cat(first_names(gone),
                        ": no bar of training is in the file with its time written as then, so "
                        "that it cannot be seen whether prices were adjusted since"));
  std::size_t named = 0;
  for (const auto& [symbol, of_symbol] : changed) {
    const Closes& closes = *of_symbol;
    if (named++ == most_named) {
      notes.push_back(cat("the closes of ", changed.size() - most_named,
                          " more symbols changed since training"));
      break;
    }
    const bool one = closes.high / closes.low - 1 < 1e-3;
    notes.push_back(
        cat(symbol, ": prices were adjusted since training: of ", closes.found,
            " closes that the model knows, ", closes.changed, " are now ",
            one ? cat(general(std::sqrt(closes.low * closes.high), 4), " times as high",
                      split_text(std::sqrt(closes.low * closes.high)))
                : cat(general(closes.low, 4), " to ", general(closes.high, 4), " times as high"),
            "; it learnt from the old ones"));
  }
  return notes;
}

std::string SinceTraining::prediction_note() const {
  if (differ_ == 0) return "";
  return cat(
      differ_, " of ", compared_,
      " predictions of the test differ from those at training, by up to ", general(largest_, 3),
      ", by ", general(sum_ / static_cast<double>(compared_), 3), " on average",
      turned_ > 0 ? cat("; ", turned_, turned_ == 1 ? " is" : " are", " on the other side of 0.5")
                  : std::string());
}

std::string SinceTraining::begin_note() const {
  const bool seen_same = compared_ > 0 && differ_ == 0;
  if (begins_.empty() && (!begin_unknown_ || seen_same)) return "";
  return cat(
      "models of feature_set=v1 depend on the first bar of a file, from which ",
      uses_volume_ ? "EMA, MACD, VWAP and OBV" : "EMA and MACD", " run: ",
      begins_.empty()
          ? std::string("these were trained when it was not recorded")
          : cat(begins_.size() == 1 ? ""
                                    : cat(begins_.size(), " symbols begin elsewhere, such as "),
                begins_.begin()->first, begins_.size() == 1 ? " begins at " : " at ",
                begins_.begin()->second),
      compared_ > 0 ? "" : "; how much predictions differ cannot be seen without rows of the test",
      drift_text());
}

std::string SinceTraining::drift_text() const {
  std::vector<std::string> parts;
  const auto add = [&](const char* feature, const std::string& difference) {
    parts.push_back(cat(feature, parts.empty() ? " would differ by up to " : " by ", difference));
  };
  if (drift_.vwap > 0) add("VWAP", cat(general(100 * drift_.vwap, 3), " %"));
  if (drift_.ema > 0) add("EMA", cat(general(100 * drift_.ema, 3), " %"));
  if (drift_.obv > 0) add("OBV", fixed(drift_.obv, 0));
  if (parts.empty()) return "";
  return cat("; in a file that begins ", warm_up_bars, " bars before these rows, ",
             join(parts, ", "));
}

std::vector<std::string> SinceTraining::notes() const {
  std::vector<std::string> notes = close_notes();
  for (std::string note : {prediction_note(), begin_note()})
    if (!note.empty()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace lockstep::gbdt
