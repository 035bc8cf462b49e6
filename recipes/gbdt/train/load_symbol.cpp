// Loads the prices of symbols and plans their windows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/made_bars.h"
#include "recipes/gbdt/bars/made_table.h"
#include "recipes/gbdt/bars/symbols.h"
#include "recipes/gbdt/features/choose_features.h"
#include "recipes/gbdt/train/labels.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {
namespace {

constexpr Day made_warm_up_days = 120;

Day made_start() { return *parse_day("2022-01-01"); }
Day made_end() { return *parse_day("2024-12-01"); }

// The range of synthetic prices. All windows of a batch must see the same prices, although each has
// its own start and end. So the range begins at a fixed day, or earlier if a window needs that. A
// longer series begins with the same prices as a shorter one.
MadeBars made_range(const GbdtOptions& options) {
  const Day earliest = *parse_day("2019-01-01");
  const auto days = static_cast<Day>(options.window_days);
  const Day start = options.start_day().value_or(made_start());
  const Day end = std::max(options.end_day().value_or(start), start + days);
  const Day last =
      std::max(made_end() + std::max<Day>(400, days), end + std::max(days, end - start));
  return {.first = std::min(earliest, start - made_warm_up_days),
          .last = last + static_cast<Day>(2 * options.horizon + 10),
          .seed = static_cast<std::uint64_t>(options.data.made_seed)};
}

MadeTable made_table(const GbdtOptions& options) {
  const Task task = options.learns().task;
  return {.rows = options.data.made_rows,
          .label = task == Task::binary       ? MadeLabel::two_classes
                   : task == Task::multiclass ? MadeLabel::three_classes
                   : task == Task::ranking    ? MadeLabel::relevance
                                              : MadeLabel::number,
          .seed = static_cast<std::uint64_t>(options.data.made_seed)};
}

WindowRange batch_range(const GbdtOptions& options, const SymbolData& data) {
  const Bars& bars = data.bars;
  const auto whole = whole_range(bars, data.features.warm_up);
  const Window days = whole.value_or(Window{bars.days.front(), bars.days.back() + 1});
  const Day first = options.made() ? made_start() : days.start;
  const Day last = options.made() ? made_end() : latest_end(bars, options.split());
  const auto window_days = static_cast<int>(options.window_days);
  return {
      .start = options.start_day().value_or(first),
      .end = options.end_day().value_or(last),
      .window_days = window_days,
      .stride_days = options.stride_days > 0 ? static_cast<int>(options.stride_days) : window_days};
}

std::vector<Window> windows_of(const GbdtOptions& options, const SymbolData& data) {
  try {
    return calendar_windows(batch_range(options, data));
  } catch (const Error& error) {
    throw Error(cat(data.bars.symbol, ": ", error.what()), error.hint());
  }
}

// Selects the features of the given model, or all that the bars allow if the model is new.
void choose_computed(SymbolData& data, const std::vector<std::string>& of_model) {
  Bars& bars = data.bars;
  const std::vector<std::string> possible = features_of(data.features, bars);
  const std::vector<std::string>& wanted = of_model.empty() ? possible : of_model;
  std::vector<std::string> absent;
  for (const std::string& name : of_model.empty() ? data.features.names : of_model)
    if (!bars.has_volume && needs_volume(name)) absent.push_back(name);
  if (!absent.empty() && !of_model.empty())
    throw Error(
        cat("the model learnt from ", join(absent, ", "), ", but ", bars.symbol, " has no volume"),
        "give prices with their volume");
  if (!absent.empty())
    bars.notes.push_back(cat("without ", join(absent, " and "), ": no row has a volume above 0"));
  if (wanted != data.features.names) data.features = choose_features(data.features, wanted);
}

}  // namespace

std::shared_ptr<const SymbolData> load_symbol(const GbdtOptions& options, const std::string& symbol,
                                              const LoadHow& how) {
  auto data = std::make_shared<SymbolData>();
  if (options.made() && options.data.made_rows > 0) {
    data->bars = make_table(symbol, made_table(options));
    data->features = own_features(data->bars);
    data->returns.assign(data->bars.size(), std::numeric_limits<double>::quiet_NaN());
    make_labels(options, *data);
    return data;
  }
  if (options.made() && options.learns().task == Task::ranking) {
    make_panel(options, symbol, made_range(options), *data);
    make_labels(options, *data);
    return data;
  }
  BarColumns columns = options.columns();
  columns.classes = how.classes;
  columns.label_optional = how.label_optional;
  Bars& bars = data->bars;
  bars = options.made() ? make_bars(symbol, made_range(options))
                        : read_bars(find_symbol(options.data.path, symbol, options.symbol_column),
                                    symbol, columns);
  data->features =
      columns.own.empty() ? compute_features(bars, options.feature_set) : own_features(bars);
  if (columns.own.empty()) choose_computed(*data, how.features);
  data->returns = bars.close.empty()
                      ? std::vector<double>(bars.size(), std::numeric_limits<double>::quiet_NaN())
                      : forward_returns(bars, static_cast<std::size_t>(options.horizon));
  make_labels(options, *data);
  return data;
}

void check_one_file(const std::set<std::string>& symbols, const std::filesystem::path& path,
                    const std::string& symbol_column) {
  if (symbols.size() < 2 || !std::filesystem::is_regular_file(path)) return;
  const std::vector<std::string> all = list_symbols(path, symbol_column);
  if (std::includes(all.begin(), all.end(), symbols.begin(), symbols.end())) return;
  throw Error(
      cat(path.string(), " is one file, but stands for the symbols ",
          join(std::vector(symbols.begin(), symbols.end()), ", ")),
      "data.path=DIR has a file SYMBOL.csv for each; symbol_column=COLUMN tells them apart in "
      "one file; symbol=NAME takes the file for one");
}

namespace {

// Throws Error if a symbol's name is not that of a synthetic one. Synthetic prices must never stand
// for real ones.
void check_made(const std::vector<std::string>& wanted) {
  constexpr std::size_t most_named = 3;
  std::vector<std::string> nowhere;
  for (const std::string& symbol : wanted)
    if (!is_made_symbol(symbol)) nowhere.push_back(symbol);
  if (nowhere.empty()) return;
  const std::size_t count = nowhere.size();
  nowhere.resize(std::min(count, most_named));
  throw Error(cat("the prices of ", join(nowhere, ", "), count > most_named ? ", …" : "",
                  " are nowhere: no data.path is given"),
              "data.path=DIR names the folder with a file SYMBOL.csv for each; without symbols, "
              "prices are made");
}

// The symbols that the options name, in that order; empty if they name none.
std::vector<std::string> named_symbols(const GbdtOptions& options) {
  if (options.symbols.empty() && !options.symbol.empty())
    return listed_names("symbol", {options.symbol});
  return listed_names("symbols", options.symbols);
}

struct UniqueSymbols {
  std::vector<std::string> all, repeated;  // each name appears once
};

UniqueSymbols unique_symbols(const std::vector<std::string>& named) {
  UniqueSymbols symbols;
  std::set<std::string> seen, twice;
  for (const std::string& symbol : named) {
    if (seen.insert(symbol).second)
      symbols.all.push_back(symbol);
    else if (twice.insert(symbol).second)
      symbols.repeated.push_back(symbol);
  }
  return symbols;
}

}  // namespace

std::vector<std::string> repeated_symbols(const GbdtOptions& options) {
  return unique_symbols(named_symbols(options)).repeated;
}

std::vector<std::string> batch_symbols(const GbdtOptions& options) {
  std::vector<std::string> wanted = unique_symbols(named_symbols(options)).all;
  if (options.made() && options.computes_features()) check_made(wanted);
  if (options.made())
    return wanted.empty() ? made_symbols(static_cast<int>(options.data.made_symbols)) : wanted;
  if (wanted.empty()) return list_symbols(options.data.path, options.symbol_column);
  check_one_file({wanted.begin(), wanted.end()}, options.data.path, options.symbol_column);
  return wanted;
}

std::string first_symbol(const GbdtOptions& options) {
  if (!options.symbol.empty()) {
    if (options.made() && options.computes_features()) check_made({options.symbol});
    return options.symbol;
  }
  return batch_symbols(options).front();
}

std::string first_symbol_note(const GbdtOptions& options) {
  if (!options.symbol.empty() || options.made()) return "";
  const std::vector<std::string> all = batch_symbols(options);
  if (all.size() < 2) return "";
  return cat("note: one model of ", all[0], ", the first of ", all.size(),
             " symbols: symbol=NAME chooses one, and lockstep batch gbdt trains one of each");
}

std::vector<PlannedWindow> plan_windows(const GbdtOptions& options,
                                        std::vector<std::string>* left_out) {
  std::vector<PlannedWindow> planned;
  std::optional<Error> none;  // the error of the first symbol that is left out
  const auto leave_out = [&](const std::string& symbol, const Error& error) {
    std::string why = error.what();
    const std::string named = cat(symbol, ": ");
    // the hint proposes another name
    if (error.hint().starts_with("is it ")) why += cat("; ", error.hint());
    if (left_out != nullptr) left_out->push_back(why.starts_with(named) ? why : named + why);
    if (!none) none = error;
  };
  for (const std::string& symbol : batch_symbols(options)) {
    std::shared_ptr<const SymbolData> data;
    try {
      data = load_symbol(options, symbol);
    } catch (const Error& error) {
      if (left_out == nullptr) throw;
      leave_out(symbol, error);
      continue;
    }
    const auto plan = [&](const Window& window) {
      const WindowRows rows =
          split_rows(data->bars, data->features, data->labels, window, options.split());
      planned.push_back({symbol, window,
                         rows.skip.empty() ? nothing_to_learn(*data, rows.train) : rows.skip,
                         static_cast<std::int64_t>(rows.train.size())});
      if (!rows.test.empty() && !data->bars.timeless)
        planned.back().last_test = data->bars.days[rows.test.back()];
    };
    if (data->bars.timeless) {
      plan(only_window(options, *data));
      continue;
    }
    const Day last = data->bars.days.back();
    std::vector<Window> windows;
    try {
      windows = windows_of(options, *data);
    } catch (const Error& error) {
      leave_out(symbol, error);
    }
    for (const Window& window : windows) {
      if (options.test == TestWindow::full && !covers(last, window.end + window.end - window.start))
        continue;
      plan(window);
    }
  }
  if (planned.empty() && none) throw *none;
  return planned;
}

Window only_window(const GbdtOptions& options, const SymbolData& data) {
  const Bars& bars = data.bars;
  const auto whole = whole_range(bars, data.features.warm_up);
  if (bars.timeless) {
    if (options.start_day() || options.end_day())
      throw Error(cat("start and end need a time, but ", bars.symbol, " has none"),
                  "name the column of the time: time=COLUMN");
    return *whole;
  }
  if (!whole && !options.start_day())
    throw Error(cat(bars.symbol, " has ", bars.size(), " bars, too few for any window"),
                cat("features need ", data.features.warm_up, " bars before a window"));
  const Day first = options.made() ? made_start() : whole ? whole->start : 0;
  const Day start = options.start_day().value_or(first);
  return {start, options.end_day().value_or(start + static_cast<Day>(options.window_days))};
}

}  // namespace lockstep::gbdt
