// Turns options into encoded sentences in the cache.
#include "recipes/dimabsa/prepare/prepare.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/files/fill_once.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/json/json_file.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/prepare/encode.h"
#include "recipes/dimabsa/prepare/load.h"
#include "recipes/dimabsa/prepare/model_folder.h"
#include "recipes/dimabsa/prepare/same_model.h"
#include "recipes/dimabsa/prepare/token_counts.h"
#include "recipes/dimabsa/tokens/tokenizer.h"
#include "runtime/run/checkpoint/hub_name.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int cache_version = 4;

// The sources of sentences: files, options, and the folder `model` with the tokenizer.
struct Sources {
  fs::path model;
  std::vector<std::string> files;  // names of the files in `model`
  json data;                       // the result of hashes_of
  std::string key;                 // name of the folder in the cache
};

// gold: the run's record and the hash of the file, if a run evaluates sentences that are not its
// own. Otherwise null.
Sources sources_of(const DimabsaOptions& options, const fs::path& model, json data,
                   const std::vector<std::string>& categories, const json& gold) {
  Sources sources{.model = model, .files = model_files(model), .data = std::move(data), .key = {}};
  Hasher hasher;
  hasher.update(json{cache_version, hash_of_files(model, sources.files), sources.data, categories,
                     gold, options.task_number, options.data.valid_share, options.data.split_seed,
                     static_cast<int>(options.data.not_found),
                     static_cast<int>(options.data.out_of_range), options.data.cut,
                     options.data.language}
                    .dump());
  sources.key = hasher.hex();
  return sources;
}

std::vector<EncodedSentence> encode_all(const std::vector<Sentence>& sentences,
                                        const SentenceEncoder& encoder, EncodeNotes& notes) {
  std::vector<EncodedSentence> encoded;
  for (const Sentence& sentence : sentences) encoded.push_back(encoder.encode(sentence, notes));
  return encoded;
}

std::int64_t longest_span(const std::vector<EncodedSentence>& sentences) {
  std::int64_t longest = 1;
  for (const EncodedSentence& sentence : sentences)
    for (const EncodedTuple& tuple : sentence.tuples)
      longest = std::max({longest, tuple.aspect.length(), tuple.opinion.length()});
  return longest;
}

// most: the number of pieces that fit next to the longest query. Throws Error if it is less than 1,
// or less than a data.cut that the user gave.
void check_room(const DimabsaOptions& options, const EncoderShape& shape, std::int64_t most) {
  if (most > 0 && (options.data.cut <= most || !options.is_asked_for("data.cut"))) return;
  throw Error(cat("data.cut=", options.data.cut, " pieces and a query do not fit into the ",
                  shape.longest(), " tokens that the model takes"),
              most > 0 ? cat("set data.cut to at most ", most, ", or leave it out")
                       : "take a model of longer texts");
}

// The mean valence and arousal of the training tuples; null if none has them.
json mean_va(const std::vector<EncodedSentence>& sentences) {
  ValenceArousal sum;
  std::int64_t count = 0;
  for (const EncodedSentence& encoded : sentences)
    for (const Tuple& tuple : encoded.sentence.tuples) {
      if (!tuple.va) continue;
      sum.valence += tuple.va->valence;
      sum.arousal += tuple.va->arousal;
      ++count;
    }
  if (count == 0) return nullptr;
  const auto n = static_cast<double>(count);
  return {sum.valence / n, sum.arousal / n};
}

// Fills a folder of the cache. before: the record of the run that is prepared again, or null.
void fill(const fs::path& folder, const Sources& sources, const LoadedSentences& loaded,
          const DimabsaOptions& options, const json& before) {
  for (const std::string& name : sources.files) fs::copy_file(sources.model / name, folder / name);
  // The tokenizer is opened in the user's folder, so that errors name it and not the temporary
  // copy.
  const std::unique_ptr<Tokenizer> tokenizer = open_tokenizer(sources.model);
  const EncodedQueries queries = make_queries(*tokenizer, options.task());
  const EncoderShape shape = read_shape(sources.model);
  const std::int64_t most = shape.longest() - query_room(queries);
  check_room(options, shape, most);
  const std::int64_t cut = std::min(options.data.cut, most);
  const SentenceEncoder encoder(*tokenizer, loaded.categories, cut);
  EncodeNotes notes;
  const std::vector<EncodedSentence> train = encode_all(loaded.train, encoder, notes);
  const std::vector<EncodedSentence> valid = encode_all(loaded.valid, encoder, notes);
  json said = loaded.warnings;
  if (cut < options.data.cut)
    said.push_back(cat("data.cut is ", cut, " in place of ", options.data.cut, ": the model takes ",
                       shape.longest(), " tokens, and a query is among them"));
  for (std::string& line : words_of(notes, "the data", cut)) said.push_back(std::move(line));
  write_sentences(folder / "train.cbor", train);
  write_sentences(folder / "valid.cbor", valid);
  json record = {{"version", cache_version},
                 {"data", sources.data},
                 {"task", options.task_number},
                 {"made", options.made()},
                 {"categories", loaded.categories},
                 {"queries", to_json(queries)},
                 {"longest_span", longest_span(train)},
                 {"tokens", count_tokens(train, queries, options.task())},
                 {"mean_va", mean_va(train)},
                 {"cut", cut},
                 {"vocabulary", tokenizer->vocabulary()},
                 {"train", train.size()},
                 {"valid", valid.size()},
                 {"said", said},
                 {"files", sources.files}};
  // the data on which the model was trained, not the data on which it is evaluated
  if (before.is_object()) {
    for (const char* name : {"data", "made", "longest_span", "tokens"})
      record[name] = before.at(name);
    record["mean_va"] = before.value("mean_va", json());
  }
  write_file_atomic(folder / record_name, json_file_text(record));
}

fs::path filled_folder(const Sources& sources, const LoadedSentences& loaded,
                       const DimabsaOptions& options, const json& before, const fs::path& cache,
                       const Say& say) {
  return fill_once(
      cache / "dimabsa", sources.key,
      [](const fs::path& folder) {
        return fs::exists(folder / record_name) && fs::exists(folder / "valid.cbor");
      },
      [&](const fs::path& folder) { fill(folder, sources, loaded, options, before); },
      [&] { say("waiting for another run that prepares the same sentences"); });
}

json extra_of(const fs::path& folder, const json& record) {
  return {{"config", parse_json(read_file(folder / "config.json"))},
          {"queries", record.at("queries")},
          {"categories", record.at("categories")},
          {"longest_span", record.at("longest_span")},
          {"tokens", record.at("tokens")},
          {"mean_va", record.value("mean_va", json())},
          {"made", record.at("made")}};
}

Facts facts_of(const DimabsaOptions& options, const json& record, const EncoderShape& shape) {
  const std::int64_t categories = std::ssize(record.at("categories"));
  return {.train_samples = record.at("train"),
          .valid_samples = record.at("valid"),
          .rows_per_sample = std::ssize(passes_of(options.task())),
          .unit = "sentences",
          .units_per_sample = 1,
          .parameters =
              parameter_count(shape) + head_parameters(options.task(), shape.width, categories),
          .default_global = 8};
}

Prepared prepared_from(const fs::path& folder, const DimabsaOptions& options, const Say& say) {
  const json record = read_record(folder);
  if (const std::int64_t cut = record.at("cut"); cut < options.data.cut)
    check_room(options, read_shape(folder), cut);
  for (const std::string line : record.at("said")) say(line);
  Prepared prepared;
  prepared.extra = extra_of(folder, record);
  prepared.extra["train"] = (folder / "train.cbor").string();
  prepared.extra["valid"] = (folder / "valid.cbor").string();
  prepared.facts = facts_of(options, record, read_shape(folder));
  prepared.data_hash = hash128_hex(json{record.at("data"), record.at("made"), record.at("train"),
                                        record.at("valid"), record.at("categories")}
                                       .dump(-1, ' ', false, json::error_handler_t::replace));
  for (const std::string name : record.at("files")) prepared.keep.push_back(folder / name);
  prepared.keep.push_back(folder / record_name);
  return prepared;
}

constexpr const char* model_hint =
    "model.path names a folder as Hugging Face writes it: config.json, the tokenizer (vocab.txt "
    "or tokenizer.json; sentencepiece.bpe.model of XLM-R; spm.model of DeBERTa-v3), and "
    "model.safetensors or pytorch_model.bin";

void check_model_path(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    const std::string fetch = fs::exists(folder, ignored) ? "" : hub_hint("model.path", folder);
    throw Error(cat("model.path: there is no folder ", folder.string()),
                fetch.empty() ? model_hint : fetch);
  }
  const auto has = [&](const char* name) { return fs::is_regular_file(folder / name, ignored); };
  if (!has("config.json"))
    throw Error(cat("model.path: ", folder.string(), " holds no config.json"), model_hint);
  if (!has("vocab.txt") && !has("tokenizer.json") && !has("sentencepiece.bpe.model") &&
      !has("spm.model"))
    throw Error(cat("model.path: ", folder.string(), " holds no tokenizer"), model_hint);
}

// Whether the folder contains weights. If it does not, throws Error unless only a plan is made.
bool check_weights(const fs::path& folder, Purpose purpose, const Say& say) {
  if (holds_weights(folder)) return true;
  if (purpose != Purpose::plan)
    throw Error(cat("model.path: ", folder.string(), " holds no weights"), model_hint);
  say(cat("model.path: ", folder.string(),
          " holds no weights, which a plan does not need, but training does"));
  return false;
}

std::vector<std::string> texts_of(const std::vector<Sentence>& sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(sentence.text);
  return texts;
}

Prepared prepare_fresh(const DimabsaOptions& options, const PrepareContext& context,
                       const fs::path& cache, const Say& say) {
  if (!options.model.path.empty()) check_model_path(options.model.path);
  if (options.made())
    say("no data.path is given: the sentences are made of templates, and so are valence and "
        "arousal");
  const LoadedSentences loaded = load_sentences(options, {});
  if (loaded.train.empty()) throw Error("there is no sentence to train on");
  if (options.model.path.empty() && !options.made())
    say("no model.path is given: a small BERT is trained from nothing");
  const fs::path model = options.model.path.empty()
                             ? learned_folder(options, texts_of(loaded.train), cache, say)
                             : fs::path(options.model.path);
  const Sources sources =
      sources_of(options, model, hashes_of(options), loaded.categories, nullptr);
  const fs::path folder = filled_folder(sources, loaded, options, nullptr, cache, say);
  Prepared prepared = prepared_from(folder, options, say);
  if (!options.model.path.empty() && check_weights(options.model.path, context.purpose, say))
    prepared.extra["weights"] =
        find_weights(options.model.path, read_record(folder).at("vocabulary"), read_shape(folder),
                     context.purpose == Purpose::train, say);
  if (!options.model.path.empty() || options.model.encoder_rate != 0)
    say(cat("the encoder learns at ", encoder_rate(options),
            " of optimizer.lr, which is the rate of the heads (model.encoder_rate)"));
  say(cat(loaded.train.size(), loaded.train.size() == 1 ? " sentence" : " sentences",
          " to train on, ", loaded.valid.size(), " to validate on"));
  return prepared;
}

// The file of an evaluation on other sentences than the run's own. data.path is used if the command
// names it alone, or if data.valid_path is empty. Otherwise data.valid_path is used.
const std::string& evaluated_file(const DimabsaOptions& options) {
  const bool names_training =
      options.is_asked_for("data.path") && !options.is_asked_for("data.valid_path");
  return names_training || options.data.valid_path.empty() ? options.data.path
                                                           : options.data.valid_path;
}

// Prepares an evaluation on sentences that are not the run's own, or on a whole file that the
// command names.
Prepared prepare_gold(const DimabsaOptions& options, const PrepareContext& context,
                      const json& before, json data, const fs::path& cache, const Say& say) {
  const std::string& file = evaluated_file(options);
  const std::vector<std::string> categories = before.at("categories");
  LoadedSentences loaded = load_gold(options, file, categories, NotInList::keep);
  const std::size_t count = loaded.valid.size();
  const std::string name = printable(fs::path(file).filename().string());
  const std::string hash = data[&file == &options.data.path ? "path" : "valid_path"];
  const std::string counted = count == 1 ? "this one is" : cat("all ", count, " of them are");
  if (hash == before["data"]["path"].get<std::string>())
    say(cat(name, ": the run was trained on ",
            options.data.valid_path.empty() ? "a part of these sentences" : "these sentences", ": ",
            counted, " evaluated"));
  else if (hash != before["data"]["valid_path"].get<std::string>())
    say(cat(name, ": these are not the sentences that the run began with: ", counted,
            " evaluated"));
  const Sources sources = sources_of(options, context.run_dir / "recipe", std::move(data),
                                     categories, json{before, hash});
  Prepared prepared =
      prepared_from(filled_folder(sources, loaded, options, before, cache, say), options, say);
  prepared.extra["evaluated"] = name;
  // The worker needs training samples even if it only evaluates.
  prepared.extra["train"] = prepared.extra["valid"];
  prepared.facts.train_samples = prepared.facts.valid_samples;
  return prepared;
}

// Prepares data for a run that exists already. Either the sentences are the same, or an evaluation
// names others.
Prepared prepare_again(const DimabsaOptions& options, const PrepareContext& context,
                       const json& before, const fs::path& cache, const Say& say) {
  const bool evaluates = context.purpose == Purpose::evaluate;
  if (options.made() && !before.at("made").get<bool>())
    throw Error(
        "the run was trained on sentences of a file, but data.path does not say where "
        "they are",
        "name the file with data.path=FILE");
  json data = evaluates ? hashes_of_those_there(options) : hashes_of(options);
  const bool same = data == before["data"];
  if (!same && !evaluates)
    throw Error("the sentences of this run have changed since it began",
                "restore the files, name the place where they lie now with data.path, or start a "
                "new run");
  const bool names_a_file =
      options.is_asked_for("data.path") || options.is_asked_for("data.valid_path");
  if (evaluates && (!same || names_a_file))
    return prepare_gold(options, context, before, std::move(data), cache, say);
  const std::vector<std::string> categories = before.at("categories");
  const LoadedSentences loaded = load_sentences(options, categories);
  const Sources sources =
      sources_of(options, context.run_dir / "recipe", std::move(data), categories, nullptr);
  return prepared_from(filled_folder(sources, loaded, options, before, cache, say), options, say);
}

Prepared prepare_prediction(const DimabsaOptions& options, const PrepareContext& context,
                            const Say& say) {
  const json record = record_of_run(context.run_dir);
  if (predicts_validation(options)) {
    const auto count = record.at("valid").get<std::int64_t>();
    say(cat("no file is named: the ", count, " validation ",
            count == 1 ? "sentence of the run is" : "sentences of the run are", " predicted"));
  }
  const fs::path folder = context.run_dir / "recipe";
  Prepared prepared;
  prepared.extra = extra_of(folder, record);
  prepared.facts = facts_of(options, record, read_shape(folder));
  return prepared;
}

}  // namespace

namespace {

// Removes paths on the user's machine that transformers wrote into a configuration.
bool forget_own_places(json& config) {
  bool found = false;
  if (!config.is_object()) return found;
  for (const char* key :
       {"_name_or_path", "name_or_path", "special_tokens_map_file", "tokenizer_file", "vocab_file"})
    if (config.contains(key) && config[key].is_string() &&
        config[key].get_ref<const std::string&>().starts_with('/')) {
      config.erase(key);
      found = true;
    }
  return found;
}

}  // namespace

void forget_places(json& extra, std::map<std::string, std::string>& kept) {
  if (extra.is_object()) {
    for (const char* key : {"train", "valid", "weights"}) extra.erase(key);
    if (extra.contains("config")) forget_own_places(extra["config"]);
  }
  for (auto& [name, content] : kept) {
    if (!name.ends_with("config.json") && name != record_name) continue;
    json value = parse_json(content);
    if (name == record_name && value.is_object()) {
      value["said"] = json::array();  // warnings about the data files, which may contain paths
      content = json_file_text(value);
    } else if (forget_own_places(value)) {
      content = json_file_text(value);
    }
  }
}

json read_record(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / record_name, ignored)) return nullptr;
  const json record = parse_json(read_file(folder / record_name));
  return record.is_object() ? record : json();
}

json record_of_run(const fs::path& run_dir) {
  const json record = run_dir.empty() ? json() : read_record(run_dir / "recipe");
  if (record.is_null())
    throw Error(cat("the run ", run_dir.string(), " has no ", record_name, " in its folder recipe"),
                "restore the folder, or name another run");
  return record;
}

Prepared prepare_sentences(const DimabsaOptions& options, const PrepareContext& context) {
  const Say say = context.say ? context.say : [](const std::string&) {};
  const json weights =
      context.run_dir.empty() ? json() : first_weights_of(options, context.run_dir);
  if (context.purpose == Purpose::predict) return prepare_prediction(options, context, say);
  const fs::path cache = fs::absolute(context.cache_dir).lexically_normal();
  const json before = context.run_dir.empty() ? json() : read_record(context.run_dir / "recipe");
  if (before.is_null()) return prepare_fresh(options, context, cache, say);
  Prepared prepared = prepare_again(options, context, before, cache, say);
  // A run without a checkpoint begins again, with the same weights.
  if (context.purpose == Purpose::train && !weights.is_null()) prepared.extra["weights"] = weights;
  return prepared;
}

namespace {

[[maybe_unused]] const bool linked = [] {
  DimabsaOptions::preparer = {
      .data = "the sentences",
      .record = record_name,
      .prepare = [](DimabsaOptions& options,
                    const PrepareContext& context) { return prepare_sentences(options, context); },
      .items = find_items,
      .score = [](DimabsaOptions& options,
                  const ScoreContext& context) { return score_predictions(options, context); },
      .forget_places = forget_places};
  return true;
}();

}  // namespace
}  // namespace lockstep::dimabsa
