#include "recipes/gbdt/train/kept_data.h"

#include <list>
#include <map>
#include <utility>

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/symbols.h"

namespace lockstep::gbdt {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 20;

struct Kept {
  std::string key;
  std::shared_ptr<const SymbolData> data;
  std::size_t bytes = 0;
};

std::list<Kept>& kept_symbols() {  // sorted by last use, the latest first
  static std::list<Kept> kept;
  return kept;
}

double seconds_ahead = 0;

// Identifies the result of load_symbol. start and end are left out, because they only choose a part
// of the prices. They are included for synthetic prices, because these extend as far as the window
// needs.
std::string key_of(const GbdtOptions& options, const std::string& symbol) {
  nlohmann::json given = options.table.to_json();
  if (options.made()) return cat(symbol, " ", given.dump());
  for (const char* name : {"start", "end"}) given.erase(name);
  const auto file = find_symbol(options.data.path, symbol, options.symbol_column);
  return cat(symbol, " ", file_identity(file), " ", given.dump());
}

std::size_t bytes_of(const SymbolData& data) {
  const Bars& bars = data.bars;
  constexpr std::size_t per_row = sizeof(std::string) + 32 + sizeof(Day) + 8 * sizeof(double);
  return bars.size() * per_row +
         sizeof(double) * (bars.own.size() + data.features.names.size() * bars.size());
}

void drop_oldest() {
  std::list<Kept>& kept = kept_symbols();
  std::size_t bytes = 0;
  for (const Kept& one : kept) bytes += one.bytes;
  for (; bytes > most_bytes && kept.size() > 1; kept.pop_back()) bytes -= kept.back().bytes;
}

}  // namespace

std::shared_ptr<const LightGbm> kept_library(const std::filesystem::path& path) {
  static std::map<std::filesystem::path, std::shared_ptr<const LightGbm>> kept;
  std::shared_ptr<const LightGbm>& library = kept[path];
  if (library == nullptr) library = std::make_shared<LightGbm>(path);
  return library;
}

std::shared_ptr<const SymbolData> kept_symbol(const GbdtOptions& options,
                                              const std::string& symbol) {
  std::list<Kept>& kept = kept_symbols();
  const std::string key = key_of(options, symbol);
  for (auto place = kept.begin(); place != kept.end(); ++place) {
    if (place->key != key) continue;
    kept.splice(kept.begin(), kept, place);
    return kept.front().data;
  }
  auto data = load_symbol(options, symbol);
  // Nothing is cached if the file changed while it was read, because it is unclear which version
  // was read.
  if (key == key_of(options, symbol)) {
    kept.push_front({.key = key, .data = data, .bytes = bytes_of(*data)});
    drop_oldest();
  }
  return data;
}

void load_ahead(const GbdtOptions& options) {
  seconds_ahead = 0;
  kept_library(find_lightgbm(options.gbdt.library, options.table.get("gbdt.device")));
  const double begin = system_clock().now_s();
  kept_symbol(options, first_symbol(options));
  seconds_ahead = system_clock().now_s() - begin;
}

double take_seconds_ahead() { return std::exchange(seconds_ahead, 0); }

}  // namespace lockstep::gbdt
