// Which symbols a folder or a file of prices holds, and where each one is.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

// Whether the option symbol_column (BarColumns::symbol) names one.
bool has_symbol_column(const std::string& column);

// The file with the prices of a symbol: `path` itself if it is a file, else path/SYMBOL.csv,
// whatever the case of ".csv". With a column of symbols (BarColumns::symbol), the one file of the
// folder. Files whose name begins with a dot are passed over. Throws Error, which names the nearest
// symbol.
std::filesystem::path find_symbol(const std::filesystem::path& path, const std::string& symbol,
                                  const std::string& symbol_column = "");

// All symbols, sorted. A folder has those of its files. A file has those of its column of symbols,
// or the tickers of yfinance's three lines of names, or else the one that its name without ".csv"
// says. Throws Error if there is none, or if there are two files of one symbol.
std::vector<std::string> list_symbols(const std::filesystem::path& path,
                                      const std::string& symbol_column = "");

// In bytes of memory. Each slot of a batch keeps rows of its own.
inline constexpr std::size_t most_kept_cells = std::size_t{256} << 20;

// The rows of a file. With `shared`, or for a file with several tickers, they are kept for the next
// call, as long as the file stays as it is. Rows of more than `most_bytes` of memory are kept only
// while there is a KeepCells. For one thread. Throws Error.
std::shared_ptr<const RawCells> cells_of_file(const std::filesystem::path& file, bool shared,
                                              std::size_t most_bytes = most_kept_cells);

// While one is there, rows of any size are kept, for a caller that goes through all symbols of a
// file. When the last one ends, it gives the kept rows back.
class KeepCells {
 public:
  KeepCells();
  ~KeepCells();
  KeepCells(const KeepCells&) = delete;
  KeepCells& operator=(const KeepCells&) = delete;
};

// A text that tells one state of a file from another, without reading it; "": it is not there.
std::string file_identity(const std::filesystem::path& file);

}  // namespace lockstep::gbdt
