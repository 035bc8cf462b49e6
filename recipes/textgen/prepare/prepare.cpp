// The implementation of TextOptions::prepare: turns a corpus into token files in the cache, or
// prompts into tokens.
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/files/fill_once.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/json/json_file.h"
#include "core/base/text/text.h"
#include "recipes/textgen/options/blocks.h"
#include "recipes/textgen/options/synthetic.h"
#include "recipes/textgen/options/token_file.h"
#include "recipes/textgen/prepare/encode.h"
#include "recipes/textgen/prepare/prompts.h"
#include "recipes/textgen/prepare/tokenizers/learn.h"

namespace lockstep::textgen {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int cache_version = 2;

// The files of the corpus, and the options that determine the tokens.
struct Sources {
  std::vector<SourceFile> train, valid;
  json options;
};

// Whether an evaluation names a text but not which part of it is validation text. before: the run's
// record. Returns false for records of old versions, because they cannot identify the run's own
// text. Its validation part is evaluated then.
bool evaluates_named_text(const TextOptions& options, const PrepareContext& context,
                          const json& before) {
  const OptionTable& table = options.table;
  return context.purpose == Purpose::evaluate && table.is_asked_for("data.path") &&
         !table.is_asked_for("data.valid_path") && !table.is_asked_for("data.valid_share") &&
         before.contains("train_hash") && before.contains("valid_hash");
}

// may_be_gone: whether the validation files may be missing, because another text is evaluated.
std::vector<SourceFile> validation_files(const TextOptions& options, bool may_be_gone) try {
  return list_files(options.data.valid_path, "data.valid_path");
} catch (const Error&) {
  if (!may_be_gone) throw;
  return {};
}

Sources find_sources(const TextOptions& options, bool names_text) {
  Sources sources;
  sources.train =
      options.data.path.empty() ? default_corpus() : list_files(options.data.path, "data.path");
  sources.valid = validation_files(options, names_text);
  sources.options = {{"path", options.data.path},
                     {"valid_path", options.data.valid_path},
                     {"field", options.data.field},
                     {"valid_share", options.data.valid_share},
                     {"split", static_cast<int>(options.data.split)}};
  return sources;
}

// The total size of the files. Null if a file is compressed, because its size is then not that of
// the text.
json bytes_of(const std::vector<SourceFile>& files) {
  std::int64_t bytes = 0;
  for (const SourceFile& file : files) {
    if (file.path.extension() == ".gz" || file.path.extension() == ".zst") return nullptr;
    bytes += file.bytes;
  }
  return bytes;
}

// Returns the name of the folder in the cache. tokenizer: a text that identifies the tokenizer.
std::string cache_key(const Sources& sources, const std::string& tokenizer) {
  json files = json::array();
  for (const auto* list : {&sources.train, &sources.valid}) {
    files.push_back(nullptr);
    for (const SourceFile& file : *list)
      files.push_back({file.path.string(), file.name, file.bytes, file.modified_ns, file.named});
  }
  Hasher hash;
  hash.update(json{cache_version, tokenizer, sources.options, files}.dump(
      -1, ' ', false, json::error_handler_t::replace));
  return hash.hex();
}

// The record in a folder of the cache or in RUN/recipe; null if the folder is incomplete.
json read_record(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "prepared.json", ignored)) return nullptr;
  const json record = parse_json(read_file(folder / "prepared.json"));
  return record.is_object() ? record : json();
}

bool whole(const fs::path& folder) try {
  const json record = read_record(folder);
  if (record.is_null()) return false;
  for (const std::string name : record.at("keep"))
    if (!fs::exists(folder / name)) return false;
  return TokenFile(folder / "train.tok").size() == record.at("train_tokens") &&
         TokenFile(folder / "valid.tok").size() == record.at("valid_tokens");
} catch (const Error&) {
  return false;
} catch (const json::exception&) {
  return false;
}

std::string summary(const Corpus& corpus) {
  std::string text =
      cat("found ", corpus.documents, corpus.documents == 1 ? " document in " : " documents in ",
          corpus.files.size(), corpus.files.size() == 1 ? " file" : " files");
  if (corpus.passed_over > 0)
    text += cat("; passed over ", corpus.passed_over,
                corpus.passed_over == 1 ? " file that is not text: " : " files that are not text: ",
                corpus.first_passed_over);
  return text;
}

// Fills `folder`. kept: the tokenizer of an earlier run, or null.
void fill(const fs::path& folder, const std::string& key, Sources sources,
          const TextOptions& options, std::unique_ptr<Tokenizer> kept, const Say& say) {
  say("reading the text");
  const json source_options = sources.options;
  const std::string sources_key = cache_key(sources, "");
  const json source_bytes = bytes_of(sources.train);
  const Corpus corpus = look_through(std::move(sources.train), std::move(sources.valid), options);
  say(summary(corpus));
  const std::unique_ptr<Tokenizer> tokenizer =
      kept ? std::move(kept) : make_tokenizer(options, corpus, say);
  std::vector<std::string> keep = save_tokenizer(*tokenizer, folder);
  keep.push_back("prepared.json");
  const Encoded encoded = encode_corpus(corpus, *tokenizer, options, folder, say);
  const json record = {{"key", key},
                       {"sources", sources_key},
                       {"source_bytes", source_bytes},
                       {"options", source_options},
                       {"kind", tokenizer->kind()},
                       {"vocab", tokenizer->vocabulary()},
                       {"eot", tokenizer->separator()},
                       {"documents", corpus.documents},
                       {"train_tokens", encoded.train_tokens},
                       {"valid_tokens", encoded.valid_tokens},
                       {"valid_bytes", encoded.valid_bytes},
                       {"train_hash", encoded.train_hash},
                       {"valid_hash", encoded.valid_hash},
                       {"pair_bits_per_byte", encoded.pair_bits_per_byte},
                       {"keep", keep}};
  write_file_atomic(folder / "prepared.json", json_file_text(record));
}

fs::path prepared_folder(const TextOptions& options, const PrepareContext& context,
                         const std::string& key, Sources sources, std::unique_ptr<Tokenizer> kept,
                         const Say& say) {
  return fill_once(
      context.cache_dir / "textgen", key, whole,
      [&](const fs::path& folder) {
        fill(folder, key, std::move(sources), options, std::move(kept), say);
      },
      [&] { say("waiting for another run that prepares the same text"); });
}

// The options must name the kind of the kept tokenizer, because the model was trained with that
// tokenizer.
std::unique_ptr<Tokenizer> kept_tokenizer(const TextOptions& options, const fs::path& recipe) {
  std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(recipe);
  const std::string wanted = options.table.get("tokenizer.kind");
  if (tokenizer->kind() != wanted)
    throw Error(
        cat("tokenizer.kind must stay ", tokenizer->kind(), " in this run, but is ", wanted),
        "leave out tokenizer.kind, or start a new run");
  return tokenizer;
}

std::string kept_identity(const Tokenizer& tokenizer) {
  Hasher hash;
  hash.update(tokenizer.description().dump());
  for (const auto& [name, content] : tokenizer.files()) hash.update(content);
  return cat("kept ", tokenizer.kind(), " ", hash.hex());
}

// A run reads its own copy of the tokenizer. So tokenizer.path may only name another place of the
// same files.
void check_same_tokenizer(const TextOptions& options, const fs::path& run_dir) {
  if (!options.table.is_asked_for("tokenizer.path") || read_record(run_dir / "recipe").is_null())
    return;
  const auto refuse = [](const std::string& why) {
    throw Error(cat("tokenizer.path cannot change when a run goes on: ", why),
                "leave out tokenizer.path, because the run has its own copy, or start a new run");
  };
  const fs::path path = options.tokenizer.path;
  std::error_code ignored;
  if (path.empty()) refuse("the run began with a tokenizer of files");
  if (!fs::exists(path, ignored)) refuse(cat("there is no ", path.string()));
  if (kept_identity(*named_tokenizer(options)) !=
      kept_identity(*kept_tokenizer(options, run_dir / "recipe")))
    refuse(cat(path.string(), " is another tokenizer than the run began with"));
}

// Prepares the text for an existing run with the run's own tokenizer.
fs::path prepare_with_kept_tokenizer(const TextOptions& options, const PrepareContext& context,
                                     Sources sources, const Say& say) {
  std::unique_ptr<Tokenizer> tokenizer = kept_tokenizer(options, context.run_dir / "recipe");
  const std::string key = cache_key(sources, kept_identity(*tokenizer));
  return prepared_folder(options, context, key, std::move(sources), std::move(tokenizer), say);
}

// Whether the tokens in the folder are those of the run. before: the run's record.
bool is_text_of(const json& before, const fs::path& folder) {
  const json now = read_record(folder);
  const auto is_same = [&](const char* key) {
    return before.contains(key) && now.contains(key) && before[key] == now[key];
  };
  return is_same("train_hash") && is_same("valid_hash");
}

// The folder with the run's own text, or nothing if the options name another text. Most other texts
// differ in size, so they are not read.
std::optional<fs::path> own_text(const TextOptions& options, const PrepareContext& context,
                                 const Sources& sources, const json& before, const Say& say) {
  const json bytes = bytes_of(sources.train), own_bytes = before.value("source_bytes", json());
  if (!bytes.is_null() && !own_bytes.is_null() && bytes != own_bytes) return std::nullopt;
  if (sources.valid.empty() && !options.data.valid_path.empty()) return std::nullopt;
  fs::path folder = prepare_with_kept_tokenizer(options, context, sources, say);
  return is_text_of(before, folder) ? std::optional(std::move(folder)) : std::nullopt;
}

// Prepares the text that an evaluation names. If it is the run's own text, only its validation part
// is evaluated. Otherwise all of it is evaluated.
fs::path prepare_named_text(const TextOptions& options, const PrepareContext& context,
                            Sources sources, const json& before, const Say& say) {
  if (auto own = own_text(options, context, sources, before, say)) return *std::move(own);
  sources.valid = sources.train;
  sources.options["valid_path"] = sources.options["path"];
  fs::path folder = prepare_with_kept_tokenizer(options, context, std::move(sources), say);
  const json hash = read_record(folder).at("train_hash");
  say(cat("all of the text in data.path is evaluated, ",
          hash == before.at("train_hash")   ? "on which the run was trained"
          : hash == before.at("valid_hash") ? "which is the run's validation text"
                                            : "even parts on which the run may have been trained"));
  return folder;
}

// Prepares data for an existing run: the same tokens, or another text to evaluate.
fs::path prepare_again(const TextOptions& options, const PrepareContext& context, Sources sources,
                       const json& before, const Say& say) {
  if (evaluates_named_text(options, context, before))
    return prepare_named_text(options, context, std::move(sources), before, say);
  const json source_options = sources.options;
  const fs::path folder = prepare_with_kept_tokenizer(options, context, std::move(sources), say);
  if (is_text_of(before, folder)) return folder;
  if (context.purpose == Purpose::train && source_options == before.value("options", json()))
    throw Error("the text of this run has changed since the run began",
                "restore the files, or start a new run on the text as it is now");
  if (context.purpose == Purpose::train)
    throw Error("data.path and data.valid_path hold another text than the run began with",
                "name the place where the same files lie now, or start a new run");
  say("the text is not the one that this run began with");
  return folder;
}

void check_tokenizer_is_there(const TextOptions& options) {
  const fs::path path = options.tokenizer.path;
  std::error_code ignored;
  if (path.empty() || fs::exists(path, ignored)) return;
  throw Error(cat("tokenizer.path: there is no ", path.string()),
              options.tokenizer.kind == TokenizerKind::gpt2
                  ? "nothing is downloaded: `lockstep help vocabulary of GPT-2` says how to get "
                    "the two files"
                  : "name a sentencepiece .model file, or leave tokenizer.path empty to train a "
                    "vocabulary");
}

fs::path find_prepared(const TextOptions& options, const PrepareContext& context, const Say& say) {
  const json before = context.run_dir.empty() ? json() : read_record(context.run_dir / "recipe");
  Sources sources = find_sources(options, evaluates_named_text(options, context, before));
  if (before.is_null()) {
    check_tokenizer_is_there(options);
    if (options.data.path.empty())
      say("no data.path is given: the text is the one that comes along, plays of Shakespeare");
    for (const auto* files : {&sources.train, &sources.valid})
      if (const std::string note = note_on_tables(*files); !note.empty())
        say(cat("warning: ", note));
    const std::string key = cache_key(sources, tokenizer_identity(options));
    return prepared_folder(options, context, key, std::move(sources), nullptr, say);
  }
  const fs::path cached = context.cache_dir / "textgen" / before.value("key", "none");
  if (before.value("sources", "") == cache_key(sources, "") && whole(cached) &&
      before.value("kind", "") == options.table.get("tokenizer.kind"))
    return cached;
  return prepare_again(options, context, std::move(sources), before, say);
}

// Adds the prompts, and the table that turns tokens into text.
void add_prompts(Prepared& prepared, const TextOptions& options, const fs::path& folder,
                 const std::vector<std::string>& prompts) {
  const json record = read_record(folder);
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(folder);
  json& extra = prepared.extra;
  extra["prompt_texts"] = prompts;
  extra["prompts"] = json::array();
  for (const std::string& prompt : prompts)
    extra["prompts"].push_back(
        encode_prompt(*tokenizer, prompt, record.value("documents", std::int64_t{1})));
  extra["synthetic"] = false;
  extra["tokenizer_vocab"] = tokenizer->vocabulary();
  extra["vocab"] = options.model_vocab(tokenizer->vocabulary());
  extra["eot"] = tokenizer->separator();
  extra["pieces"] = fs::absolute(folder / "pieces.bin").string();
  extra["bytes"] = fs::absolute(folder / "bytes.bin").string();
  prepared.facts.unit = "tokens";
  prepared.facts.units_per_sample = static_cast<double>(options.model.context);
  prepared.facts.parameters = options.parameter_count(tokenizer->vocabulary());
  prepared.facts.default_global = 32;
}

void add_tokens(Prepared& prepared, const TextOptions& options, const fs::path& folder,
                Purpose purpose) {
  const json record = read_record(folder);
  const std::int64_t context = options.model.context;
  const std::int64_t train_tokens = record.at("train_tokens");
  const std::int64_t valid_tokens = record.at("valid_tokens");
  if (purpose != Purpose::evaluate && train_tokens <= context)
    throw Error(
        cat("the training text has ", train_tokens, " tokens, but one context takes ", context + 1),
        train_tokens > 2 ? cat("use more text, or set model.context to at most ", train_tokens - 1)
                         : std::string("use more text"));
  if (valid_tokens < 2 && options.data.valid_share > 0)
    throw Error(cat("the validation text has ", valid_tokens, " tokens, but needs at least 2"),
                "use more text, a larger data.valid_share, or data.valid_path");
  json& extra = prepared.extra;
  for (const char* name : {"train_tokens", "valid_tokens", "valid_bytes", "pair_bits_per_byte"})
    extra[name] = record.at(name);
  prepared.data_hash = hash128_hex(json{record.at("train_hash"), record.at("valid_hash")}.dump());
  extra["train"] = fs::absolute(folder / "train.tok").string();
  extra["valid"] = fs::absolute(folder / "valid.tok").string();
  prepared.facts.train_samples = sample_count(train_tokens, context);
  prepared.facts.valid_samples = sample_count(valid_tokens, context);
  for (const std::string name : record.at("keep")) prepared.keep.push_back(folder / name);
}

Prepared prepare_synthetic(const TextOptions& options) {
  Prepared prepared;
  const std::int64_t context = options.model.context;
  prepared.facts = {.train_samples = sample_count(synthetic_train_tokens, context),
                    .valid_samples = sample_count(synthetic_valid_tokens, context),
                    .unit = "tokens",
                    .units_per_sample = static_cast<double>(context),
                    .parameters = options.parameter_count(),
                    .default_global = 32};
  prepared.extra = {{"synthetic", true},
                    {"vocab", options.model_vocab()},
                    {"eot", -1},
                    {"train_tokens", synthetic_train_tokens},
                    {"valid_tokens", synthetic_valid_tokens},
                    {"valid_bytes", 0},
                    {"pair_bits_per_byte", 0},
                    {"prompts", json::array({json::array({0})})},
                    {"prompt_texts", json::array({""})}};
  prepared.data_hash = hash128_hex(cat("synthetic ", options.model_vocab(), " ", context));
  return prepared;
}

// Encodes the prompts with the run's tokenizer. The corpus is not needed.
Prepared prepare_predict(const TextOptions& options, const PrepareContext& context) {
  const fs::path recipe = context.run_dir / "recipe";
  if (context.run_dir.empty() || read_record(recipe).is_null())
    throw Error(cat("the run ", context.run_dir.string(), " has no tokenizer in ", recipe.string()),
                "restore the folder, or name another run");
  Prepared prepared;
  add_prompts(prepared, options, recipe, read_prompts(options, std::cin));
  return prepared;
}

bool began_with_random_tokens(const fs::path& run) {
  std::error_code ignored;
  if (!fs::exists(run / "run.json", ignored)) return false;
  const json record = parse_json(read_file(run / "run.json"));
  return record.is_object() && record.contains("config") &&
         record["config"].value("data.path", json()) == json::array({"synthetic"});
}

// A run that began with random tokens cannot resume with text. One that began with text cannot
// resume with random tokens.
void check_same_kind(const TextOptions& options, const PrepareContext& context) {
  if (context.run_dir.empty() || context.purpose == Purpose::predict) return;
  const bool random = began_with_random_tokens(context.run_dir);
  if (random == options.synthetic()) return;
  throw Error(cat("data.path must be ", random ? "`synthetic`" : "text", ", as when the run began"),
              "leave out data.path, or start a new run");
}

Prepared prepare_text(TextOptions& options, const PrepareContext& context) {
  check_same_kind(options, context);
  if (options.synthetic()) return prepare_synthetic(options);
  if (!context.run_dir.empty()) check_same_tokenizer(options, context.run_dir);
  if (context.purpose == Purpose::predict) return prepare_predict(options, context);
  const Say say = context.say ? context.say : [](const std::string&) {};
  const fs::path folder = find_prepared(options, context, say);
  Prepared prepared;
  add_prompts(prepared, options, folder, {options.predict.prompt});
  add_tokens(prepared, options, folder, context.purpose);
  return prepared;
}

[[maybe_unused]] const bool linked = [] {
  TextOptions::preparer = {.data = "the text", .record = "prepared.json", .prepare = prepare_text};
  return true;
}();

}  // namespace
}  // namespace lockstep::textgen
