// The sentences to predict: lines of files, tokenised here because the worker has no tokenizer.
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/prepare/encode.h"
#include "recipes/dimabsa/prepare/load.h"
#include "recipes/dimabsa/prepare/prepare.h"
#include "recipes/dimabsa/sentences/reader.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* nothing_hint = "lockstep predict RUN data.path=FILE";

// A sentence, or why there is none in that line.
struct Line {
  Sentence sentence;
  std::string fault{};
};

ReadOptions read_options(const DimabsaOptions& options) {
  return {
      .task = options.task(), .labelled = false, .categories = {}, .not_in_text = NotInText::keep};
}

// A line that is no JSON object is a text, whose ID is the line's number.
std::string as_json(const std::string& line, std::size_t number) {
  const std::string text = trim(line);
  if (text.empty() || text.starts_with('{')) return text;
  return json{{"ID", cat(number)}, {"Text", text}}.dump(-1, ' ', false,
                                                        json::error_handler_t::replace);
}

// Where a line cannot be read the others still can.
std::vector<Line> read_one_by_one(const std::vector<std::string>& lines, const std::string& name,
                                  const DimabsaOptions& options) {
  std::vector<Line> read;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    Line line;
    line.sentence.line = static_cast<std::int64_t>(i + 1);
    try {
      // Blank lines before it, so that messages count as the file does.
      const std::string alone = std::string(i, '\n') + lines[i];
      line.sentence = parse_sentences(alone, name, read_options(options)).sentences.at(0);
      if (!ids.insert(line.sentence.id).second)
        line.fault = cat("the ID ", line.sentence.id, " comes twice");
    } catch (const Error& error) {
      line.fault = error.what();
    }
    read.push_back(std::move(line));
  }
  return read;
}

std::vector<Line> read_lines(const fs::path& path, const std::string& name,
                             const DimabsaOptions& options) {
  std::vector<std::string> lines = split(read_input(path), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = as_json(lines[i], i + 1);
  try {
    std::vector<Line> read;
    for (Sentence& sentence :
         parse_sentences(join(lines, "\n"), name, read_options(options)).sentences)
      read.push_back({.sentence = std::move(sentence)});
    return read;
  } catch (const Error&) {
    std::vector<Line> read = read_one_by_one(lines, name, options);
    if (read.empty()) throw;
    return read;
  }
}

// Whether data.path is not that of the run, so that it names what to predict.
bool names_other_data(const DimabsaOptions& options, const fs::path& run_dir) {
  if (options.data.path.empty() || run_dir.empty()) return false;
  std::error_code ignored;
  if (!fs::exists(run_dir / "run.json", ignored)) return false;
  const json record = parse_json(read_file(run_dir / "run.json"));
  return record.is_object() && record.contains("config") &&
         record["config"].value("data.path", "") != options.data.path;
}

// Makes items of sentences; without a tokenizer, before there is a run, without their tokens.
class ItemList {
 public:
  ItemList(const DimabsaOptions& options, const fs::path& run_dir) : options_(options) {
    if (run_dir.empty()) return;
    tokenizer_ = open_tokenizer(run_dir / "recipe");
    categories_ = record_of_run(run_dir).at("categories").get<std::vector<std::string>>();
  }

  // prefix: of ids, where there are several files.
  void add(const Line& line, const std::string& name, const std::string& prefix) {
    PredictItem item;
    item.index = std::ssize(items_);
    item.name = cat("line ", line.sentence.line, " of ", name);
    item.id = cat(prefix, line.sentence.line);
    item.fault = line.fault;
    if (item.fault.empty() && tokenizer_ != nullptr) {
      EncodeNotes notes;
      const SentenceEncoder encoder(*tokenizer_, categories_, options_.data.cut);
      item.text = to_json(encoder.encode(line.sentence, notes))
                      .dump(-1, ' ', false, json::error_handler_t::replace);
    }
    items_.push_back(std::move(item));
  }

  std::vector<PredictItem> take() { return std::move(items_); }

 private:
  const DimabsaOptions& options_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<std::string> categories_;
  std::vector<PredictItem> items_;
};

// Those that the run validates on.
std::vector<PredictItem> validation_items(const DimabsaOptions& options, const fs::path& run_dir) {
  if (!run_dir.empty() && options.made() && !record_of_run(run_dir).at("made").get<bool>())
    throw Error("there is nothing to predict: no file is named", nothing_hint);
  ItemList list(options, run_dir);
  const LoadedSentences loaded = load_sentences(options, {});
  if (loaded.valid.empty())
    throw Error("there is nothing to predict: no file is named, and the run validates on nothing",
                nothing_hint);
  for (const Sentence& sentence : loaded.valid)
    list.add({.sentence = sentence}, "the validation sentences", "");
  return list.take();
}

}  // namespace

std::vector<PredictItem> find_items(const DimabsaOptions& options, const ItemQuery& query) {
  std::vector<std::string> inputs = query.inputs;
  if (inputs.empty() && names_other_data(options, query.run_dir)) inputs = {options.data.path};
  if (inputs.empty()) return validation_items(options, query.run_dir);
  ItemList list(options, query.run_dir);
  for (const std::string& input : inputs) {
    const bool piped = input == "-";
    const std::string name = piped ? "standard input" : input;
    const std::string prefix =
        inputs.size() == 1 ? "" : cat(piped ? "-" : fs::path(input).filename().string(), ":");
    const fs::path path = piped ? query.standard_input : fs::path(input);
    for (const Line& line : read_lines(path, name, options)) list.add(line, name, prefix);
  }
  return list.take();
}

}  // namespace lockstep::dimabsa
