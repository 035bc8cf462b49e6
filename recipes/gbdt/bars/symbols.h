// Finds the symbols of a folder or file of prices, and the file of each symbol.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

// Whether the option symbol_column (BarColumns::symbol) names a column.
bool has_symbol_column(const std::string& column);

// Returns the file with the prices of a symbol. It is `path` itself if that is a file, else
// path/SYMBOL.csv; the case of ".csv" is ignored. With a column of symbols (BarColumns::symbol),
// `path` is one file or a folder with one file, which has all symbols. Files whose name begins with
// a dot are ignored. Throws Error, which names the most similar symbol.
std::filesystem::path find_symbol(const std::filesystem::path& path, const std::string& symbol,
                                  const std::string& symbol_column = "");

// Returns all symbols, sorted. A folder has the symbols of its files. A file has the values of its
// column of symbols, if symbol_column names one. Without such a column, it has the tickers in
// yfinance's three rows of names, if there are several. If not, its only symbol is its file name
// without ".csv". Throws Error if there is no symbol, or if two files have the same symbol.
std::vector<std::string> list_symbols(const std::filesystem::path& path,
                                      const std::string& symbol_column = "");

// The memory that kept rows may take, in bytes. Each slot of a batch keeps its own rows.
inline constexpr std::size_t most_kept_cells = std::size_t{256} << 20;

// Returns the rows of a file. With `shared`, or if the file has several tickers, they are kept for
// later calls. They are used until the file changes or rows of another file take their place. Rows
// that take more than `most_bytes` of memory are kept only while a KeepCells exists. Use it on one
// thread. Throws Error.
std::shared_ptr<const RawCells> cells_of_file(const std::filesystem::path& file, bool shared,
                                              std::size_t most_bytes = most_kept_cells);

// While a KeepCells exists, rows of any size are kept, for a caller that processes all symbols of a
// file. When the last one is destroyed, kept rows are freed.
class KeepCells {
 public:
  KeepCells();
  ~KeepCells();
  KeepCells(const KeepCells&) = delete;
  KeepCells& operator=(const KeepCells&) = delete;
};

// Returns a text that changes when a file changes. It is made from the file's name and status,
// without reading the file. It is empty if the file does not exist.
std::string file_identity(const std::filesystem::path& file);

}  // namespace lockstep::gbdt
