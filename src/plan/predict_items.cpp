// Files, folders, globs and lines as items.
#include "plan/predict_items.h"

#include "base/check.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <glob.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Relative where that is short: below the present folder.
std::string name_of(const fs::path& path) {
  const fs::path near = path.lexically_relative(fs::current_path());
  return near.empty() || *near.begin() == ".." ? path.string() : near.string();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

bool is_blank(const std::string& line) { return trim(line).empty(); }

// "a, b" of suffixes, for messages.
std::string suffix_words(const PredictInput& input) {
  return input.suffixes.empty() ? "file" : join(input.suffixes, " or ") + " file";
}

std::vector<std::string> neighbours(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  return names;
}

[[noreturn]] void throw_not_there(const fs::path& path) {
  const std::string near = nearest(path.filename().string(), neighbours(path));
  throw Error(cat("there is no file ", name_of(path)),
              near.empty() ? "" : cat("did you mean ", name_of(path.parent_path() / near), "?"));
}

class Lister {
 public:
  Lister(const PredictInput& input, const ItemQuery& query) : input_(input), query_(query) {}

  std::vector<PredictItem> list() {
    for (const std::string& word : query_.inputs) add_word(word);
    if (!missing_.empty() && missing_.size() == items_.size()) throw_not_there(missing_[0]);
    name_outputs();
    return std::move(items_);
  }

 private:
  void add_word(const std::string& word) {
    if (input_.kind == PredictInput::Kind::words) {
      if (word != "-") return add_text(word, word, word);
      for (const std::string& line : standard_input_lines())
        if (!is_blank(line)) add_text(line, line, line);
      return;
    }
    if (word == "-") return add_standard_input();
    std::error_code ignored;
    const fs::path path = fs::absolute(word).lexically_normal();
    if (fs::exists(path, ignored) || word.find_first_of("*?[") == word.npos) return add(path);
    add_glob(word);
  }

  std::vector<std::string> standard_input_lines() const {
    LOCKSTEP_CHECK(!query_.standard_input.empty());
    return lines_of(read_file(query_.standard_input));
  }

  void add_standard_input() {
    if (input_.kind == PredictInput::Kind::lines)
      return add_lines(read_file(query_.standard_input), "standard input");
    for (const std::string& line : standard_input_lines())
      if (!is_blank(line)) add(fs::absolute(line).lexically_normal());
  }

  void add_glob(const std::string& pattern) {
    glob_t found = {};
    const int result = glob(pattern.c_str(), 0, nullptr, &found);
    const std::vector<std::string> words(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    if (result != 0 || words.empty())
      throw Error(cat("no file matches ", pattern),
                  "* stands for any part of a name, and leaves folders as they are");
    for (const std::string& word : words) add(fs::absolute(word).lexically_normal());
  }

  void add(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return add_folder(path);
    add_path(path, path.filename().string());
  }

  void add_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const bool hidden = entry->path().filename().string().starts_with('.');
      std::error_code ignored;
      if (hidden && entry->is_directory(ignored)) entry.disable_recursion_pending();
      if (!hidden && entry->is_regular_file(ignored) && counts(entry->path()))
        files.push_back(entry->path().lexically_normal());
    }
    if (error) throw Error(cat("cannot list ", name_of(folder), ": ", error.message()));
    if (files.empty())
      throw Error(cat("the folder ", name_of(folder), " holds no ", suffix_words(input_)),
                  "name another folder, or the files themselves");
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) add_path(file, file.lexically_relative(folder).string());
  }

  bool counts(const fs::path& file) const {
    const std::string name = lower(file.filename().string());
    return input_.suffixes.empty() ||
           std::any_of(input_.suffixes.begin(), input_.suffixes.end(),
                       [&](const std::string& suffix) { return name.ends_with(lower(suffix)); });
  }

  void add_path(const fs::path& path, const std::string& id) {
    if (!seen_.insert(path).second) return;
    std::error_code ignored;
    if (input_.kind == PredictInput::Kind::lines) return add_lines(read_input(path), name_of(path));
    if (!fs::exists(path, ignored)) missing_.push_back(path);
    items_.push_back({.name = name_of(path), .id = id, .path = path.string()});
  }

  void add_lines(const std::string& text, const std::string& source) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!is_blank(lines[i])) add_text(lines[i], cat("line ", i + 1, " of ", source), cat(i + 1));
  }

  void add_text(const std::string& text, const std::string& name, const std::string& id) {
    items_.push_back({.name = name, .id = id, .text = text});
  }

  std::string output_of(const PredictItem& item) const {
    if (input_.output_suffix.empty()) return "";
    fs::path output = item.id;
    if (!item.path.empty()) output.replace_extension();
    return output.string() + input_.output_suffix;
  }

  void name_outputs() {
    std::map<std::string, std::string> taken;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      PredictItem& item = items_[i];
      item.index = static_cast<std::int64_t>(i);
      if (item.output.empty()) item.output = output_of(item);
      if (item.output.empty()) continue;
      const auto [other, is_new] = taken.emplace(item.output, item.name);
      if (!is_new)
        throw Error(cat(other->second, " and ", item.name, " would both become ", item.output),
                    "give the folder above them, or predict them apart with another out= each");
    }
  }

  const PredictInput& input_;
  const ItemQuery& query_;
  std::vector<PredictItem> items_;
  std::vector<fs::path> missing_;
  std::set<fs::path> seen_;
};

constexpr std::pair<PredictInput::Kind, const char*> kind_words[] = {
    {PredictInput::Kind::text, "text"},
    {PredictInput::Kind::files, "files"},
    {PredictInput::Kind::lines, "lines"},
    {PredictInput::Kind::words, "words"}};

}  // namespace

std::vector<PredictItem> list_items(const PredictInput& input, const ItemQuery& query) {
  return Lister(input, query).list();
}

std::string to_cbor(const std::vector<PredictItem>& items) {
  nlohmann::json all = nlohmann::json::array();
  for (const PredictItem& item : items)
    all.push_back({item.index, item.name, item.id, item.path, item.text, item.output});
  std::string bytes;
  nlohmann::json::to_cbor(all, bytes);
  return bytes;
}

std::vector<PredictItem> items_from_cbor(const std::string& bytes) try {
  std::vector<PredictItem> items;
  for (const nlohmann::json& item : nlohmann::json::from_cbor(bytes))
    items.push_back({.index = item.at(0),
                     .name = item.at(1),
                     .id = item.at(2),
                     .path = item.at(3),
                     .text = item.at(4),
                     .output = item.at(5)});
  return items;
} catch (const nlohmann::json::exception& error) {
  throw Error(cat("the list of items cannot be read: ", error.what()));
}

nlohmann::json to_json(const PredictInput& input) {
  nlohmann::json json{{"option", input.option},
                      {"other_options", input.other_options},
                      {"suffixes", input.suffixes},
                      {"output_suffix", input.output_suffix},
                      {"joint_outputs", input.joint_outputs},
                      {"finds_items", input.finds_items},
                      {"batch", input.batch}};
  for (const auto& [kind, word] : kind_words)
    if (kind == input.kind) json["kind"] = word;
  return json;
}

PredictInput predict_input_from_json(const nlohmann::json& json) {
  PredictInput input{.option = json.at("option"),
                     .other_options = json.at("other_options"),
                     .suffixes = json.at("suffixes"),
                     .output_suffix = json.at("output_suffix"),
                     .joint_outputs = json.at("joint_outputs"),
                     .finds_items = json.at("finds_items"),
                     .batch = std::max<std::int64_t>(json.at("batch").get<std::int64_t>(), 1)};
  for (const auto& [kind, word] : kind_words)
    if (json.at("kind") == word) input.kind = kind;
  return input;
}

}  // namespace lockstep
