// Turns files, folders, globs and lines into items to predict.
#include "planning/order/predict_items.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/path_pattern.h"
#include "core/base/text/text.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
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

// The path relative to the current folder if it lies below, or else the absolute path.
std::string path_name(const fs::path& path) {
  const fs::path near = path.lexically_relative(fs::current_path());
  return near.empty() || *near.begin() == ".." ? path.string() : near.string();
}

bool is_blank(const std::string& line) { return trim(line).empty(); }

// Joins the accepted suffixes for messages, such as ".png or .jpg file".
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

Error not_there(const fs::path& path) {
  const std::string near = nearest(path.filename().string(), neighbours(path));
  return Error(cat("there is no file ", path_name(path)),
               near.empty() ? "" : cat("did you mean ", path_name(path.parent_path() / near), "?"));
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(path.begin(), path.end(), folder.begin(), folder.end()).second ==
         folder.end();
}

class Lister {
 public:
  Lister(const PredictInput& input, const ItemQuery& query) : input_(input), query_(query) {}

  std::vector<PredictItem> list() {
    for (const std::string& word : query_.inputs) add_word(word);
    name_items();
    name_outputs();
    const bool any_good = std::any_of(items_.begin(), items_.end(),
                                      [](const PredictItem& item) { return item.fault.empty(); });
    if (!any_good && error_) throw Error(*error_);
    return std::move(items_);
  }

 private:
  // Consecutive items of one file: the file itself, or one item per line.
  struct Source {
    fs::path path;  // empty = standard input
    std::string id;
    std::size_t begin, end;
  };

  void add_word(const std::string& word) {
    if (input_.kind == PredictInput::Kind::words) {
      if (word != "-") return add_text_once(word);
      for (const std::string& line : standard_input_lines())
        if (!is_blank(line)) add_text_once(line);
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
    return lines_of(read_file(query_.standard_input, data_bytes));
  }

  void add_standard_input() {
    if (input_.kind == PredictInput::Kind::lines)
      return add_lines(read_file(query_.standard_input, data_bytes), "standard input", {}, "-");
    for (const std::string& line : standard_input_lines())
      if (!is_blank(line)) add(fs::absolute(line).lexically_normal());
  }

  void add_glob(const std::string& pattern) {
    const std::vector<std::string> words = paths_matching(pattern);
    if (words.empty()) {
      const fs::path path = fs::absolute(pattern);
      if (is_new(path))
        add_fault(path, Error(cat("no file matches ", pattern),
                              "* stands for any part of a name, and leaves folders as they are"));
      return;
    }
    for (const std::string& word : words) add(fs::absolute(word).lexically_normal());
  }

  void add(const fs::path& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return add_folder(path);
    add_path(path, path.filename().string());
  }

  void add_folder(const fs::path& folder) {
    std::vector<std::pair<fs::path, std::string>> files;
    find_files(folder, files);
    if (files.empty() && is_new(folder))
      add_fault(folder,
                Error(cat("the folder ", path_name(folder), " holds no ", suffix_words(input_)),
                      "name another folder, or the files themselves"));
    std::sort(files.begin(), files.end());
    for (const auto& [file, fault] : files) {
      if (fault.empty())
        add_path(file, file.lexically_relative(folder).string());
      else if (is_new(file))
        add_fault(file, Error(fault));
    }
  }

  // Finds the files of a folder. Folders that cannot be listed are added with the reason.
  void find_files(const fs::path& folder, std::vector<std::pair<fs::path, std::string>>& files) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      const fs::path path = entry->path().lexically_normal();
      if (path.filename().string().starts_with('.')) continue;
      if (entry->is_directory(ignored) && !entry->is_symlink(ignored))
        find_files(path, files);
      else if (entry->is_regular_file(ignored) && counts(path))
        files.emplace_back(path, "");
    }
    if (error)
      files.emplace_back(folder, cat("cannot list ", path_name(folder), ": ", error.message()));
  }

  bool counts(const fs::path& file) const {
    const std::string name = lower(file.filename().string());
    return input_.suffixes.empty() ||
           std::any_of(input_.suffixes.begin(), input_.suffixes.end(),
                       [&](const std::string& suffix) { return name.ends_with(lower(suffix)); });
  }

  void add_path(const fs::path& path, const std::string& id) {
    std::error_code ignored;
    if (!is_new(path)) return;
    if (!fs::exists(path, ignored)) return add_fault(path, not_there(path));
    if (input_.kind == PredictInput::Kind::lines) return add_file_of_lines(path, id);
    add_source(path, id, {.name = path_name(path), .path = path.string()});
  }

  void add_file_of_lines(const fs::path& path, const std::string& id) try {
    add_lines(read_input(path, list_bytes), path_name(path), path, id);
  } catch (const Error& error) {
    add_fault(path, error);
  }

  void add_lines(const std::string& text, const std::string& source, const fs::path& path,
                 const std::string& id) {
    const std::size_t begin = items_.size();
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!is_blank(lines[i]))
        items_.push_back(
            {.name = cat("line ", i + 1, " of ", source), .id = cat(i + 1), .text = lines[i]});
    sources_.push_back({path, id, begin, items_.size()});
  }

  void add_text_once(const std::string& text) {
    if (is_new(text)) items_.push_back({.name = text, .id = text, .text = text});
  }

  bool is_new(const std::string& input) { return seen_.insert(input).second; }

  void add_fault(const fs::path& path, const Error& error) {
    if (!error_) error_ = error;
    add_source(path, path.filename().string(),
               {.name = path_name(path), .path = path.string(), .fault = error.what()});
  }

  void add_source(const fs::path& path, const std::string& id, PredictItem item) {
    item.id = id;
    sources_.push_back({path, id, items_.size(), items_.size() + 1});
    items_.push_back(std::move(item));
  }

  void name_items() {
    std::set<std::string> ids;
    for (const Source& source : sources_) ids.insert(source.id);
    if (ids.size() < sources_.size()) name_below_common_folder();
    for (const Source& source : sources_)
      for (std::size_t i = source.begin; i < source.end; ++i) {
        PredictItem& item = items_[i];
        if (item.text.empty())
          item.id = source.id;
        else if (sources_.size() > 1)
          item.id = cat(source.id, ":", item.id);
      }
  }

  void name_below_common_folder() {
    fs::path common;
    for (const Source& source : sources_) {
      if (source.path.empty()) continue;
      if (common.empty()) common = source.path.parent_path();
      while (!lies_below(source.path, common)) common = common.parent_path();
    }
    for (Source& source : sources_)
      if (!source.path.empty()) source.id = source.path.lexically_relative(common).string();
  }

  std::string output_of(const PredictItem& item) const {
    if (input_.output_suffix.empty()) return "";
    fs::path output = item.id;
    if (!item.path.empty()) output.replace_extension();
    return output.string() + input_.output_suffix;
  }

  void name_outputs() {
    std::map<std::string, std::size_t> taken;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      PredictItem& item = items_[i];
      item.index = static_cast<std::int64_t>(i);
      if (!item.fault.empty()) continue;
      item.output = output_of(item);
      if (item.output.empty()) continue;
      item.fault = fault_of_output_name(item.output);
      const auto [other, is_new] = taken.emplace(item.output, i);
      if (!is_new)
        item.fault = cat("it would become ", item.output, ", as ", items_[other->second].name,
                         " does: predict it by itself, with another out=");
      if (!item.fault.empty() && !error_) error_ = Error(cat(item.name, ": ", item.fault));
    }
  }

  const PredictInput& input_;
  const ItemQuery& query_;
  std::vector<PredictItem> items_;
  std::vector<Source> sources_;
  std::optional<Error> error_;  // the first fault of an item, with a hint
  std::set<std::string> seen_;
};

constexpr std::pair<PredictInput::Kind, const char*> kind_words[] = {
    {PredictInput::Kind::text, "text"},
    {PredictInput::Kind::files, "files"},
    {PredictInput::Kind::lines, "lines"},
    {PredictInput::Kind::words, "words"}};

}  // namespace

std::vector<PredictItem> list_items(const PredictInput& input, const ItemQuery& query) {
  if (std::find(query.inputs.begin(), query.inputs.end(), "") != query.inputs.end())
    throw Error("an input is empty", "name a file, a folder or a word; is a variable unset?");
  return Lister(input, query).list();
}

std::string fault_of_output_name(const std::string& name) {
  const fs::path path = name;
  const bool is_plain = path.lexically_normal().native() == name;  // not an alias of another name
  if (path.empty() || path.is_absolute() || !path.has_filename() || *path.begin() == ".." ||
      name == "." || !is_plain)
    return cat("an output must have a plain name below its folder, but is called \"",
               printable(name), "\"");
  if (std::any_of(path.begin(), path.end(),
                  [](const fs::path& part) { return part.native().size() > NAME_MAX; }))
    return cat("an output's name may have ", NAME_MAX, " bytes, but it is called ",
               printable(name));
  return "";
}

std::string to_cbor(const std::vector<PredictItem>& items) {
  nlohmann::json all = nlohmann::json::array();
  for (const PredictItem& item : items)
    all.push_back({item.index, item.name, item.id, item.path, item.further, item.text, item.output,
                   item.fault, item.pieces});
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
                     .further = item.at(4),
                     .text = item.at(5),
                     .output = item.at(6),
                     .fault = item.at(7),
                     .pieces = item.at(8)});
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
                      {"averages", input.averages},
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
                     .averages = json.value("averages", false),
                     .batch = std::max<std::int64_t>(json.at("batch").get<std::int64_t>(), 1)};
  for (const auto& [kind, word] : kind_words)
    if (json.at("kind") == word) input.kind = kind;
  return input;
}

}  // namespace lockstep
