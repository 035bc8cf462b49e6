// Writes what the gbdt recipe reads of a price file or table, for gbdt_files_test.py to compare.
//   dump-bars FILE [symbol=NAME] [symbol_column=NAME] [date_order=dmy|mdy] [features=*]
//   [label=NAME]
// As JSON: days, stamps, open to volume, own columns [rows, names] and labels; numbers as texts.
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/bars.h"

namespace {

nlohmann::json texts(const std::vector<double>& numbers) {
  nlohmann::json all = nlohmann::json::array();
  for (const double number : numbers) all.push_back(lockstep::general(number, 17));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace lockstep::gbdt;
  if (argc < 2) return 2;
  std::map<std::string, std::string> given;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    given[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  BarColumns columns{.label = given["label"], .symbol = given["symbol_column"]};
  if (given["features"] == "*") {
    columns.prices = BarColumns::Prices::none;
    columns.own = {"*"};
  }
  if (given["date_order"] == "dmy") columns.date_order = DateOrder::day_first;
  if (given["date_order"] == "mdy") columns.date_order = DateOrder::month_first;
  try {
    const Bars bars = read_bars(argv[1], given["symbol"], columns);
    nlohmann::json days = nlohmann::json::array();
    for (const Day day : bars.days) days.push_back(to_text(day));
    std::cout << nlohmann::json{{"days", days},
                                {"stamps", bars.stamps},
                                {"open", texts(bars.open)},
                                {"high", texts(bars.high)},
                                {"low", texts(bars.low)},
                                {"close", texts(bars.close)},
                                {"volume", texts(bars.volume)},
                                {"has_volume", bars.has_volume},
                                {"names", bars.own_names},
                                {"own", texts(bars.own)},
                                {"labels", texts(bars.labels)},
                                {"notes", bars.notes}}
                     .dump()
              << '\n';
  } catch (const lockstep::Error& error) {
    std::fprintf(stderr, "error: %s\nhint: %s\n", error.what(), error.hint().c_str());
    return 1;
  }
  return 0;
}
