// Reads the sentences to predict from lines of files. They are tokenized here, because the worker
// has no tokenizer.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/prepare/encode.h"
#include "recipes/dimabsa/prepare/load.h"
#include "recipes/dimabsa/prepare/prepare.h"
#include "recipes/dimabsa/sentences/files/file_form.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* nothing_hint = "lockstep predict RUN data.path=FILE";

// The sentence of a line, or the reason why the line has none.
struct Line {
  Sentence sentence;
  std::string fault{};
};

ReadOptions read_options(const DimabsaOptions& options) {
  return {
      .task = options.task(), .labelled = false, .categories = {}, .not_in_text = NotInText::keep};
}

// An input to predict: a file, or standard input.
struct Input {
  fs::path path;
  std::string name;    // the name in messages
  std::string prefix;  // the prefix of item ids, if there are several inputs
  // Whether the file's name ends in .json or .jsonl. Each line must then be an object; other inputs
  // may also contain plain text.
  bool is_json = false;
};

// Several inputs get different prefixes: the file's name, or the whole path if names are equal.
std::vector<Input> list_inputs(const std::vector<std::string>& typed, const fs::path& piped) {
  const std::set<std::string> once(typed.begin(), typed.end());
  std::map<std::string, int> names;
  for (const std::string& word : once) ++names[fs::path(word).filename().string()];
  std::vector<Input> inputs;
  std::set<std::string> seen;
  for (const std::string& word : typed) {
    if (!seen.insert(word).second) continue;
    const fs::path path(word);
    const std::string name = path.filename().string();
    inputs.push_back({.path = word == "-" ? piped : path,
                      .name = word == "-" ? "standard input" : word,
                      .prefix = cat(names[name] == 1 ? name : word, ":"),
                      .is_json = path.extension() == ".jsonl" || path.extension() == ".json"});
  }
  if (inputs.size() == 1) inputs[0].prefix.clear();
  return inputs;
}

// A line of plain text becomes an object with the line number as its ID.
std::string as_json(const std::string& line, std::size_t number, const Input& input) {
  const std::string text = trim(line);
  if (input.is_json || text.empty() || text.starts_with('{')) return text;
  return json{{"ID", cat(input.prefix, number)}, {"Text", text}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

// Reads each line by itself, so that one bad line does not stop the others.
std::vector<Line> read_one_by_one(const std::vector<std::string>& lines, const std::string& name,
                                  const DimabsaOptions& options) {
  std::vector<Line> read;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    Line line;
    line.sentence.line = static_cast<std::int64_t>(i + 1);
    try {
      // Blank lines in front of it keep the line numbers of messages right.
      const std::string alone = std::string(i, '\n') + lines[i];
      line.sentence = parse_sentences(alone, name, read_options(options)).sentences.at(0);
    } catch (const Error& error) {
      line.fault = error.what();
    }
    read.push_back(std::move(line));
  }
  return read;
}

std::vector<Line> read_lines(const Input& input, const DimabsaOptions& options) {
  const std::string file = read_input(input.path, list_bytes);
  const std::string content(without_byte_order_mark(file));
  const std::size_t first = std::min(content.find_first_not_of(" \t\r\n"), content.size());
  refuse_other_forms(std::string_view(content).substr(first), input.name, !input.is_json);
  std::vector<std::string> lines = lockstep::split(content, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = as_json(lines[i], i + 1, input);
  try {
    std::vector<Line> read;
    for (Sentence& sentence :
         parse_sentences(join(lines, "\n"), input.name, read_options(options)).sentences)
      read.push_back({.sentence = std::move(sentence)});
    return read;
  } catch (const Error&) {
    std::vector<Line> read = read_one_by_one(lines, input.name, options);
    if (read.empty()) throw;
    return read;
  }
}

// Makes items from sentences. Before there is a run, there is no tokenizer, and items have no
// tokens.
class ItemList {
 public:
  ItemList(const DimabsaOptions& options, const fs::path& run_dir) {
    if (run_dir.empty()) return;
    tokenizer_ = open_tokenizer(run_dir / "recipe");
    const json record = record_of_run(run_dir);
    categories_ = record.at("categories").get<std::vector<std::string>>();
    cut_ = record.value("cut", options.data.cut);
  }

  // prefix: the prefix of ids if there are several inputs. file: DimabsaOptions::prediction_file.
  void add(const Line& line, const std::string& name, const std::string& prefix,
           const std::string& file) {
    PredictItem item;
    item.index = std::ssize(items_);
    item.name = cat("line ", line.sentence.line, " of ", name);
    item.id = cat(prefix, line.sentence.line);
    item.fault = line.fault;
    if (item.fault.empty()) {
      const auto [first, is_new] = places_.emplace(std::pair(file, line.sentence.id), item.name);
      if (!is_new)
        item.fault =
            cat("the ID ", printable(line.sentence.id), " comes twice, first in ", first->second);
    }
    if (item.fault.empty() && tokenizer_ != nullptr) {
      EncodeNotes notes;
      const SentenceEncoder encoder(*tokenizer_, categories_, cut_);
      json text = to_json(encoder.encode(line.sentence, notes));
      text[file_key] = file;
      item.text = text.dump(-1, ' ', false, json::error_handler_t::replace);
    }
    items_.push_back(std::move(item));
  }

  std::vector<PredictItem> take() { return std::move(items_); }

 private:
  std::unique_ptr<Tokenizer> tokenizer_;
  std::int64_t cut_ = 0;  // number of pieces
  std::vector<std::string> categories_;
  std::vector<PredictItem> items_;
  // Where each ID was first seen, by the file that gets its predictions.
  std::map<std::pair<std::string, std::string>, std::string> places_;
};

// The validation sentences of the run.
std::vector<PredictItem> validation_items(const DimabsaOptions& options, const fs::path& run_dir) {
  std::vector<std::string> categories;
  if (!run_dir.empty()) {
    const json record = record_of_run(run_dir);
    if (options.made() && !record.at("made").get<bool>())
      throw Error("there is nothing to predict: no file is named", nothing_hint);
    if (hashes_of(options) != record.at("data"))
      throw Error("no file is named, and the sentences of this run have changed since it began",
                  cat("restore the files, or name what to predict: ", nothing_hint));
    categories = record.at("categories").get<std::vector<std::string>>();
  }
  ItemList list(options, run_dir);
  const LoadedSentences loaded = load_sentences(options, categories);
  if (loaded.valid.empty())
    throw Error("there is nothing to predict: no file is named, and the run validates on nothing",
                nothing_hint);
  for (const Sentence& sentence : loaded.valid)
    list.add({.sentence = sentence}, "the validation sentences", "", options.prediction_file(""));
  return list.take();
}

}  // namespace

bool predicts_validation(const DimabsaOptions& options) {
  return options.item_options.input.empty() && !options.is_asked_for("data.path");
}

std::vector<PredictItem> find_items(const DimabsaOptions& options, const ItemQuery& query) {
  std::vector<std::string> typed = query.inputs;
  // If there is no run yet, data.path names training data, so it is not predicted.
  if (typed.empty() && !query.run_dir.empty() && options.is_asked_for("data.path") &&
      !options.made())
    typed = {options.data.path};
  if (typed.empty()) return validation_items(options, query.run_dir);
  const std::vector<Input> inputs = list_inputs(typed, query.standard_input);
  ItemList list(options, query.run_dir);
  for (const Input& input : inputs) {
    const std::string file = options.prediction_file(input.name);
    for (const Line& line : read_lines(input, options))
      list.add(line, input.name, input.prefix, file);
  }
  return list.take();
}

}  // namespace lockstep::dimabsa
