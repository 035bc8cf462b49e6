// Finds the files of a corpus.
#include "recipes/textgen/prepare/source_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "core/base/error.h"
#include "core/base/text/path_pattern.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/hub_name.h"

namespace lockstep::textgen {
namespace {

namespace fs = std::filesystem;

// The file extension without that of the compression: ".jsonl" for "a.jsonl.gz".
std::string extension_of(fs::path path) {
  const std::string extension = path.extension().string();
  if (extension == ".gz" || extension == ".zst") path = path.stem();
  return path.extension().string();
}

SourceFile describe(const fs::path& path, const std::string& name, bool named) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    throw Error(cat("cannot read ", path.string(), ": ", errno_text(errno)),
                "check the path and its permissions");
  if (!S_ISREG(info.st_mode))
    throw Error(cat(path.string(), " is neither a file nor a folder"),
                "name text files or folders");
  const bool is_json = extension_of(path) == ".json";
  return {.path = fs::absolute(path).lexically_normal(),
          .name = name,
          .bytes = info.st_size,
          .modified_ns = std::int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec,
          .jsonl = is_json || extension_of(path) == ".jsonl" || extension_of(path) == ".ndjson",
          .json = is_json,
          .named = named};
}

bool hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

// Lists the files below `folder` that are not empty, sorted. Names are relative to `base`.
std::vector<SourceFile> list_folder(const fs::path& folder, const fs::path& base) {
  std::vector<SourceFile> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (hidden(entry->path())) {
      if (entry->is_directory()) entry.disable_recursion_pending();
      continue;
    }
    std::error_code ignored;
    if (!entry->is_regular_file(ignored) || entry->file_size(ignored) == 0) continue;
    files.push_back(
        describe(entry->path(), entry->path().lexically_relative(base).generic_string(), false));
  }
  if (error)
    throw Error(cat("cannot read the folder ", folder.string(), ": ", error.message()),
                "check its permissions");
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  return files;
}

// The source files of a file or folder. None if it does not exist.
std::vector<SourceFile> list_path(const std::string& path, const std::string& option) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    std::vector<SourceFile> files = list_folder(path, path);
    if (files.empty())
      throw Error(cat(option, " names the folder ", path, ", which holds no files with text"),
                  "name a folder with text or jsonl files");
    return files;
  }
  if (!fs::exists(path, ignored)) return {};
  SourceFile file = describe(path, fs::path(path).filename().string(), true);
  if (file.bytes == 0) throw Error(cat(path, " is empty"), cat("take it out of ", option));
  return {file};
}

std::vector<SourceFile> list_one(const std::string& path, const std::string& option) {
  std::vector<SourceFile> files = list_path(path, option);
  if (!files.empty()) return files;
  if (path.find_first_of("*?[") == std::string::npos) {
    const std::string of_hub = hub_data_hint(path);
    throw Error(cat(option, ": there is no file or folder ", path),
                of_hub.empty() ? "check the path; it is taken from the current folder if relative"
                               : of_hub);
  }
  for (const std::string& match : paths_matching(path))
    for (SourceFile& file : list_path(match, option)) files.push_back(std::move(file));
  if (files.empty())
    throw Error(cat(option, ": no file matches ", path),
                "check the pattern; quote it in the shell");
  return files;
}

}  // namespace

std::vector<SourceFile> list_files(std::span<const std::string> paths, const std::string& option) {
  std::vector<SourceFile> files;
  std::set<fs::path> seen;
  for (const std::string& path : paths)
    for (SourceFile& file : list_one(path, option))
      if (seen.insert(file.path).second) files.push_back(std::move(file));
  return files;
}

std::string note_on_tables(std::span<const SourceFile> files) {
  const auto is_table = [](const SourceFile& file) {
    const std::string extension = extension_of(file.path);
    return extension == ".csv" || extension == ".tsv";
  };
  const auto first = std::find_if(files.begin(), files.end(), is_table);
  if (first == files.end()) return "";
  const std::string name = printable(first->path.filename().string());
  const std::string separator = extension_of(first->path) == ".tsv" ? ", sep=\"\\t\"" : "";
  return cat(name, " is a table, and all of it is read as text, with its header, separators and ",
             "quotes. To read the text in one of its columns, make JSON lines of it, in Python: ",
             "pandas.read_csv(\"", name, "\"", separator,
             ").to_json(\"NEW.jsonl\", orient=\"records\", lines=True); then data.path=NEW.jsonl ",
             "data.field=COLUMN");
}

std::vector<SourceFile> default_corpus(const fs::path& programs) {
  const fs::path text = "share/lockstep/textgen/tinyshakespeare.txt";
  for (const fs::path& tree : {programs, programs.parent_path()}) {
    std::error_code ignored;
    if (fs::exists(tree / text, ignored))
      return {describe(tree / text, text.filename().string(), true)};
  }
  throw Error(
      cat("the text that comes with Lockstep, ", text.string(), ", is neither in ",
          programs.string(), " nor in ", programs.parent_path().string()),
      "set data.path to a text of yours, or take the whole folder along: a build folder, or "
      "the bin, lib and share of an installed tree");
}

}  // namespace lockstep::textgen
