// Finds the symbols of a folder or file of prices, and the file of each one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

// Whether the option symbol_column (BarColumns::symbol) names a column.
bool has_symbol_column(const std::string& column);

// The file with the prices of a symbol: `path` itself if it is a file, else path/SYMBOL.csv,
// ignoring the case of ".csv". With a column of symbols (BarColumns::symbol), it is the only file
// of the folder. Files whose name begins with a dot are ignored. Throws Error, which names the
// nearest symbol.
std::filesystem::path find_symbol(const std::filesystem::path& path, const std::string& symbol,
                                  const std::string& symbol_column = "");

// All symbols, sorted. A folder has those of its files. A file has those in its column of symbols,
// else the tickers in yfinance's three lines of names, else only the symbol that is its name
// without ".csv". Throws Error if there is none, or if two files have the same symbol.
std::vector<std::string> list_symbols(const std::filesystem::path& path,
                                      const std::string& symbol_column = "");

// A limit in bytes of memory. Each slot of a batch keeps its own rows.
inline constexpr std::size_t most_kept_cells = std::size_t{256} << 20;

// The rows of a file. With `shared`, or for a file with several tickers, they are kept for the next
// call, as long as the file is unchanged. If they take more than `most_bytes` of memory, they are
// kept only while a KeepCells exists. Use it on one thread. Throws Error.
std::shared_ptr<const RawCells> cells_of_file(const std::filesystem::path& file, bool shared,
                                              std::size_t most_bytes = most_kept_cells);

// While one exists, rows of any size are kept, for a caller that processes all symbols of a file.
// When the last one is destroyed, the kept rows are freed.
class KeepCells {
 public:
  KeepCells();
  ~KeepCells();
  KeepCells(const KeepCells&) = delete;
  KeepCells& operator=(const KeepCells&) = delete;
};

// A text that differs between states of a file, made without reading the file; "" if it does not
// exist.
std::string file_identity(const std::filesystem::path& file);

}  // namespace lockstep::gbdt
