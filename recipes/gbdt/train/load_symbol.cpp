// Prices and windows of symbols.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {
namespace {

constexpr Day made_warm_up_days = 120;

Day made_start() { return *parse_day("2022-01-01"); }
Day made_end() { return *parse_day("2024-12-01"); }

// The same prices for all windows of a batch, each of which has a start and an end of its own: they
// begin at a fixed day, unless a window lies before it, and a longer series begins as a shorter
// one.
MadeBars made_range(const GbdtOptions& options) {
  const Day earliest = *parse_day("2019-01-01");
  const auto days = static_cast<Day>(options.window_days);
  const Day start = options.start_day().value_or(made_start());
  const Day end = std::max(options.end_day().value_or(start), start + days);
  const Day last =
      std::max(made_end() + std::max<Day>(400, days), end + std::max(days, end - start));
  return {.first = std::min(earliest, start - made_warm_up_days),
          .last = last + static_cast<Day>(2 * options.horizon + 10),
          .seed = static_cast<std::uint64_t>(options.seed)};
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> words;
  for (const std::string& line : split(read_file(file), '\n'))
    if (std::string word = trim(line); !word.empty() && word[0] != '#')
      words.push_back(std::move(word));
  return words;
}

std::vector<double> labels_of(const std::vector<double>& returns, double threshold) {
  std::vector<double> labels = returns;
  for (double& value : labels)
    if (!std::isnan(value)) value = value > threshold ? 1 : 0;
  return labels;
}

void check_labels(const Bars& bars, const std::vector<double>& labels) {
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (!std::isnan(labels[row]) && labels[row] != 0 && labels[row] != 1)
      throw Error(cat("the label of ", bars.symbol, " at ", bars.stamps[row], " is ",
                      general(labels[row], 6), ", but must be 0 or 1"));
}

WindowRange batch_range(const GbdtOptions& options, const SymbolData& data) {
  const Bars& bars = data.bars;
  const auto whole = whole_range(bars, data.features.warm_up);
  const Window days = whole.value_or(Window{bars.days.front(), bars.days.back() + 1});
  const Day first = options.made() ? made_start() : days.start;
  const Day last = options.made() ? made_end() : days.end;
  const auto window_days = static_cast<int>(options.window_days);
  return {
      .start = options.start_day().value_or(first),
      .end = options.end_day().value_or(last),
      .window_days = window_days,
      .stride_days = options.stride_days > 0 ? static_cast<int>(options.stride_days) : window_days};
}

}  // namespace

std::shared_ptr<const SymbolData> load_symbol(const GbdtOptions& options,
                                              const std::string& symbol) {
  auto data = std::make_shared<SymbolData>();
  const BarColumns columns = options.columns();
  Bars& bars = data->bars;
  bars = options.made() ? make_bars(symbol, made_range(options))
                        : read_bars(find_symbol(options.data.path, symbol), symbol, columns);
  data->features = columns.own.empty() ? compute_features(bars) : own_features(bars);
  data->returns = bars.close.empty()
                      ? std::vector<double>(bars.size(), std::numeric_limits<double>::quiet_NaN())
                      : forward_returns(bars, static_cast<std::size_t>(options.horizon));
  data->labels = bars.labels.empty() ? labels_of(data->returns, options.threshold) : bars.labels;
  check_labels(bars, data->labels);
  return data;
}

std::vector<std::string> batch_symbols(const GbdtOptions& options) {
  std::vector<std::string> wanted = options.symbols;
  if (wanted.empty() && !options.symbol.empty()) wanted = {options.symbol};
  if (wanted.size() == 1 && std::filesystem::is_regular_file(wanted[0]))
    wanted = lines_of(wanted[0]);
  if (options.made())
    return wanted.empty() ? made_symbols(static_cast<int>(options.data.made_symbols)) : wanted;
  if (wanted.empty()) return list_symbols(options.data.path);
  for (const std::string& symbol : wanted) find_symbol(options.data.path, symbol);
  return wanted;
}

std::vector<PlannedWindow> plan_windows(const GbdtOptions& options) {
  std::vector<PlannedWindow> planned;
  for (const std::string& symbol : batch_symbols(options)) {
    const auto data = load_symbol(options, symbol);
    const Day last = data->bars.days.back();
    for (const Window& window : calendar_windows(batch_range(options, *data))) {
      if (options.test == TestWindow::full && !covers(last, window.end + window.end - window.start))
        continue;
      planned.push_back(
          {symbol, window,
           split_rows(data->bars, data->features, data->labels, window, options.split()).skip});
    }
  }
  return planned;
}

Window only_window(const GbdtOptions& options, const SymbolData& data) {
  const Bars& bars = data.bars;
  const auto whole = whole_range(bars, data.features.warm_up);
  if (!whole && !options.start_day())
    throw Error(cat(bars.symbol, " has ", bars.size(), " bars, too few for any window"),
                cat("features need ", data.features.warm_up, " bars before a window"));
  const Day first = options.made() ? made_start() : whole ? whole->start : 0;
  const Day start = options.start_day().value_or(first);
  return {start, options.end_day().value_or(start + static_cast<Day>(options.window_days))};
}

}  // namespace lockstep::gbdt
