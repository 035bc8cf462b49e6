// Finds the symbols of a folder or file of prices, and the file of each symbol.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

// Whether the option symbol_column (BarColumns::symbol) names a column, and is not empty or "none".
bool has_symbol_column(const std::string& column);

// Returns the file with the prices of a symbol. It is `path` itself if that is a file, else
// path/SYMBOL.csv; the case of ".csv" is ignored. If symbol_column names a column, `path` is one
// file or a folder with one file, which has all symbols. Files whose name begins with a dot are
// ignored. Throws Error if there is no such file; the hint names the most similar symbol.
std::filesystem::path find_symbol(const std::filesystem::path& path, const std::string& symbol,
                                  const std::string& symbol_column = "");

// Returns all symbols at a path, sorted. If symbol_column names a column, they are the values of
// that column. Without such a column, the symbols of a folder are the names of its files without
// ".csv". A file with yfinance's three rows of names has its tickers as symbols, if there are
// several. The only symbol of any other file is its file name without ".csv". Throws Error if there
// is no symbol, or if two files have the same symbol.
std::vector<std::string> list_symbols(const std::filesystem::path& path,
                                      const std::string& symbol_column = "");

// The largest memory of the rows that a process keeps, in bytes. Each process of a batch keeps its
// own rows.
inline constexpr std::size_t most_kept_cells = std::size_t{256} << 20;

// Returns the rows of a file. With `shared`, or if the file has several tickers, the rows are kept
// for later calls. Later calls return them until the file changes, or until rows of another file
// replace them. Rows that take more than `most_bytes` of memory are kept only while a KeepCells
// exists. Use it on one thread. Throws Error if the file cannot be read, and as read_cells does.
std::shared_ptr<const RawCells> cells_of_file(const std::filesystem::path& file, bool shared,
                                              std::size_t most_bytes = most_kept_cells);

// While a KeepCells exists, cells_of_file keeps rows of any size, for a caller that processes all
// symbols of a file. When the last KeepCells is destroyed, kept rows are freed.
class KeepCells {
 public:
  KeepCells();
  ~KeepCells();
  KeepCells(const KeepCells&) = delete;
  KeepCells& operator=(const KeepCells&) = delete;
};

// Returns a text that changes when a file changes. It is made from the file's name, inode, size and
// modification time, without reading the file. It is empty if the file does not exist.
std::string file_identity(const std::filesystem::path& file);

}  // namespace lockstep::gbdt
