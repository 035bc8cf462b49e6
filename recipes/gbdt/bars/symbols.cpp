#include "recipes/gbdt/bars/symbols.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/file_kind.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

namespace fs = std::filesystem;

bool is_price_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return plain_name(path.extension().string()) == "csv" && !name.starts_with('.');
}

struct SharedCells {
  std::string identity;
  std::shared_ptr<const RawCells> raw;
  int keepers = 0;  // number of KeepCells objects
};
SharedCells& shared_cells() {
  static SharedCells kept;
  return kept;
}

std::optional<FileKind> kind_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head(file_kind_bytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return kind_of_file(head, file);
}

// Throws Error for a folder without price files. The error names the first file of a known kind,
// such as Parquet, or else the first file.
[[noreturn]] void refuse_folder(const fs::path& folder, std::vector<fs::path> others) {
  const std::string hint = "a folder of prices has a file SYMBOL.csv for each symbol";
  if (others.empty()) throw Error(cat(folder.string(), " holds no CSV file"), hint);
  std::sort(others.begin(), others.end());
  const auto known = std::find_if(others.begin(), others.end(),
                                  [](const fs::path& file) { return kind_of(file).has_value(); });
  const fs::path shown = known == others.end() ? others.front() : *known;
  const std::string name = printable(shown.filename().string());
  const std::optional<FileKind> kind = kind_of(shown);
  throw Error(cat(folder.string(), " holds no CSV file, but ", name, kind ? ", " : "",
                  kind ? kind->name : "",
                  others.size() > 1 ? cat(", and ", others.size() - 1, " more") : ""),
              kind ? cat(hint, "; ", text_remedy(*kind, name, TextForm::csv_with_index)) : hint);
}

std::vector<fs::path> price_files(const fs::path& folder) {
  std::vector<fs::path> files, others;
  std::error_code failed, ignored;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (is_price_file(entry.path()))
      files.push_back(entry.path());
    else if (entry.is_regular_file(ignored) && !entry.path().filename().string().starts_with('.'))
      others.push_back(entry.path());
  if (failed)
    throw Error(cat(folder.string(), ": ", failed.message()),
                "data.path is a folder with a file SYMBOL.csv for each symbol, or one such file");
  if (files.empty()) refuse_folder(folder, std::move(others));
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the single file that has a column of symbols.
fs::path only_file(const fs::path& path, const std::string& column) {
  if (fs::is_regular_file(path)) return path;
  const std::vector<fs::path> files = price_files(path);
  if (files.size() > 1)
    throw Error(cat("symbol_column=", column, " is of one file with all symbols, but ",
                    path.string(), " holds ", files.size(), " files"),
                cat(shell_word(cat("data.path=", files[0].string())),
                    " names one of them; symbol_column=none reads a file for each symbol"));
  return files[0];
}

// Where the first `lines` lines end. In UTF-16, a newline begins at an even byte.
std::size_t end_of_lines(std::string_view text, int lines) {
  using namespace std::literals;
  const bool little = text.starts_with("\xFF\xFE"), big = text.starts_with("\xFE\xFF");
  const std::string_view newline = little ? "\n\0"sv : big ? "\0\n"sv : "\n"sv;
  std::size_t end = 0;
  while (lines > 0) {
    const std::size_t found = text.find(newline, end);
    if (found == text.npos) return text.size();
    const bool is_whole = found % newline.size() == 0;
    end = is_whole ? found + newline.size() : found + 1;
    if (is_whole) --lines;
  }
  return end;
}

// Tickers in the three lines of names at the beginning of a file.
std::vector<std::string> tickers_of_file(const fs::path& file) {
  constexpr std::size_t most_bytes = 1 << 20;
  std::ifstream in(file, std::ios::binary);
  std::string text(most_bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most_bytes));
  text.resize(static_cast<std::size_t>(in.gcount()));
  text.resize(end_of_lines(text, 4));
  try {
    return tickers_of(*read_cells(std::move(text), file.filename().string()));
  } catch (const Error&) {  // the code that reads the whole file will report it
    return {};
  }
}

std::vector<std::string> column_values(const fs::path& file, const std::string& column) {
  const auto raw = cells_of_file(file, true);
  const CellTable table = name_columns(raw, "", false);
  const std::size_t where = table.column(column);
  std::set<std::string, std::less<>> values;
  std::string_view last;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string_view value = table.cell(row, where);
    if (value == last || value.empty()) continue;
    last = value;
    if (values.contains(value)) continue;
    check_utf8(value, *raw, table.line(row));
    values.emplace(value);
  }
  if (values.empty())
    throw Error(cat(raw->name, ": ", column, ", the column of symbols, is empty"));
  return {values.begin(), values.end()};
}

}  // namespace

bool has_symbol_column(const std::string& column) { return !column.empty() && column != "none"; }

std::string file_identity(const fs::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return "";
  return cat(file.string(), " ", found.st_dev, " ", found.st_ino, " ", found.st_size, " ",
             found.st_mtim.tv_sec, " ", found.st_mtim.tv_nsec);
}

std::shared_ptr<const RawCells> cells_of_file(const fs::path& file, bool shared,
                                              std::size_t most_bytes) {
  SharedCells& kept = shared_cells();
  const std::string identity = file_identity(file);
  if (kept.raw != nullptr && kept.identity == identity) return kept.raw;
  auto raw = read_cells(read_file(file, data_bytes), file.filename().string());
  // Nothing is cached if the file changed while it was read, because it is unclear which version
  // was read.
  const bool fits = kept.keepers > 0 || raw->bytes() <= most_bytes;
  if (fits && (shared || tickers_of(*raw).size() > 1) && identity == file_identity(file)) {
    kept.identity = identity;
    kept.raw = raw;
  }
  return raw;
}

KeepCells::KeepCells() { ++shared_cells().keepers; }

KeepCells::~KeepCells() {
  if (--shared_cells().keepers == 0) shared_cells() = {};
}

fs::path find_symbol(const fs::path& path, const std::string& symbol,
                     const std::string& symbol_column) {
  if (has_symbol_column(symbol_column)) return only_file(path, symbol_column);
  if (fs::is_regular_file(path)) return path;
  const fs::path usual = path / (symbol + ".csv");
  if (symbol.find('/') == symbol.npos && !symbol.starts_with('.') && fs::is_regular_file(usual))
    return usual;
  std::vector<std::string> all;
  for (const fs::path& file : price_files(path)) {
    if (file.stem() == symbol) return file;
    all.push_back(file.stem().string());
  }
  const std::string near = nearest(symbol, all);
  throw Error(cat("there is no file of the symbol ", symbol, " in ", path.string()),
              near.empty()
                  ? cat("it has ", all.size(), " symbols, ", all.front(), " to ", all.back())
                  : cat("is it ", near, "?"));
}

std::vector<std::string> list_symbols(const fs::path& path, const std::string& symbol_column) {
  if (has_symbol_column(symbol_column))
    return column_values(only_file(path, symbol_column), symbol_column);
  std::vector<std::string> symbols;
  if (fs::is_regular_file(path)) {
    symbols = tickers_of_file(path);
    if (symbols.size() < 2) return {path.stem().string()};
  } else {
    for (const fs::path& file : price_files(path)) symbols.push_back(file.stem().string());
  }
  std::sort(symbols.begin(), symbols.end());
  if (const auto twice = std::adjacent_find(symbols.begin(), symbols.end()); twice != symbols.end())
    throw Error(cat(path.string(), " holds two files of the symbol ", *twice),
                "their names differ in the case of .csv alone; give one of them another name");
  return symbols;
}

}  // namespace lockstep::gbdt
