// Reading ten times as much must take about ten times as long. Each parser gets the input that is
// worst for it. The time is that of the processor, so that other programs count little, and the
// least of several runs.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "byte_vocabulary.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/config/read_toml.h"
#include "core/media/csv_table.h"
#include "fakes/tenths.h"
#include "fuzz.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/phrase.h"
#include "recipes/dimabsa/tokens/bert_folder.h"
#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/annotations/voc.h"
#include "recipes/fewshot/metrics/result_files.h"
#include "recipes/textgen/prepare/chunks.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"
#include "recipes/volume/files/stack_layout.h"
#include "runtime/run/checkpoint/manifest.h"
#include "runtime/run/curves/curves.h"
#include "runtime/run/curves/loss_curve.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/folder/run_history.h"
#include "runtime/run/formats/pickle.h"
#include "runtime/run/formats/safetensors.h"
#include "runtime/run/formats/tensorboard_records.h"
#include "runtime/run/formats/torch_file.h"
#include "runtime/run/formats/zip_directory.h"
#include "tools/cli/words/command_words.h"
#include "tools/jobs/job_file/job_file.h"
#include "tools/jobs/job_file/job_words.h"
#include "tools/jobs/job_file/placeholders.h"
#include "tools/jobs/job_group.h"
#include "tools/report/facts/facts_file.h"
#include "tools/report/facts/gpu_facts.h"
#include "tools/report/facts/run_log.h"
#include "tools/report/logs/csv_numbers.h"
#include "tools/report/logs/foreign_log.h"
#include "tools/report/logs/json_log.h"
#include "tools/report/reports/comparison_report.h"
#include "tools/report/reports/gpu_series.h"
#include "tools/report/reports/run_report.h"
#include "tools/report/tensorboard/tensorboard_reader.h"
#include "tools/report/trackers/plain_yaml.h"

namespace lockstep {
namespace {

using nlohmann::json;
using Parse = std::function<void()>;

// prepare: makes an input of size n, and returns what reads it. n: to begin with, and at most.
struct TimedParser {
  const char* name;
  Parse (*prepare)(std::size_t n);
  std::size_t n = 1000, most = 100'000;
};

std::string times(std::size_t count, const std::function<std::string(std::size_t)>& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part(i);
  return text;
}
std::string in_list(std::size_t count, const std::function<std::string(std::size_t)>& part) {
  return times(count, [&](std::size_t i) { return (i > 0 ? "," : "") + part(i); });
}

// As a file, for what takes a path. Its writing counts too, and is little.
template <class Read>
Parse of_file(std::string text, Read read) {
  const auto file = std::make_shared<fuzz::MemoryFile>();
  file->write(text);
  return [file, read] { read(file->path()); };
}

// -- run
std::string little_endian_8(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i)
    bytes[static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * i);
  return bytes;
}
Parse of_header(const std::string& header, std::uint64_t data_bytes) {
  return [text = little_endian_8(header.size()) + header, data_bytes] {
    std::istringstream in(text);
    read_header(in, text.size() + data_bytes);
  };
}
Parse safetensors_names(std::size_t n) {
  return of_header("{" +
                       in_list(n,
                               [](std::size_t i) {
                                 return cat("\"layer.", i, R"(":{"dtype":"U8","shape":[1],)",
                                            "\"data_offsets\":[", i, ",", i + 1, "]}");
                               }) +
                       "}",
                   n);
}
Parse safetensors_metadata(std::size_t n) {
  const auto part = [](std::size_t i) { return cat("\"key ", i, "\":\"value\""); };
  return of_header(R"({"__metadata__":{)" + in_list(n, part) + "}}", 0);
}
// One tuple that is given to each of many calls.
Parse pickle_calls(std::size_t n) {
  using namespace std::string_literals;
  const auto word = [](const std::string& text) {
    return "X"s + little_endian_8(text.size()).substr(0, 4) + text;
  };
  const std::string bytes =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor\n((" +
      word("storage") + "ctorch\nFloatStorage\n" + word("0") + word("cpu") +
      "K\x04tQK\0K\x04\x85K\x01\x85tRq\x01"
      "ctorch._utils\n_rebuild_parameter\nq\x02(h\x01"s +
      std::string(n, 'N') + "tq\x03" + times(n, [](std::size_t) { return "h\x02h\x03R"; }) + ".";
  return [bytes] {
    std::istringstream in(bytes);
    read_pickle(in, bytes.size());
  };
}
// Many keys for one large dict of tensors; none of them is that of a state dict.
Parse torch_file_keys(std::size_t n) {
  using namespace std::string_literals;
  const auto word = [](const std::string& text) {
    return "X"s + little_endian_8(text.size()).substr(0, 4) + text;
  };
  const std::string start =
      "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}."s;
  const std::string object = "\x80\x02}("s + word("a") + "}q\x01(" +
                             times(n, [&](std::size_t i) { return word(cat(i)) + "N"; }) + "u" +
                             times(n, [&](std::size_t i) { return word(cat("b", i)) + "h\x01"; }) +
                             "u.";
  return [bytes = start + object + "\x80\x02]."] {
    std::istringstream in(bytes);
    try {
      read_torch_file(in, bytes.size());
    } catch (const Error&) {  // it holds no state dict
    }
  };
}
std::string zip_number(std::uint64_t value, std::size_t bytes) {
  return little_endian_8(value).substr(0, bytes);
}
Parse zip_members(std::size_t n) {
  std::string files, directory;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = cat("archive/data/", i);
    directory += "PK\1\2" + std::string(24, '\0') + zip_number(name.size(), 2) +
                 std::string(12, '\0') + zip_number(files.size(), 4) + name;
    files +=
        "PK\3\4" + std::string(22, '\0') + zip_number(name.size(), 2) + std::string(2, '\0') + name;
  }
  const std::string end = "PK\5\6" + std::string(6, '\0') + zip_number(n, 2) +
                          zip_number(directory.size(), 4) + zip_number(files.size(), 4) +
                          std::string(2, '\0');
  return [bytes = files + directory + end] {
    std::istringstream in(bytes);
    read_zip_directory(in, bytes.size());
  };
}
Parse manifest_files(std::size_t n) {
  Manifest manifest;
  for (std::size_t i = 0; i < n; ++i) manifest.files[cat("file", i)] = {1, "0123456789abcdef"};
  return [text = to_text(manifest)] { parse_manifest(text); };
}

// Evaluations and steps that every one of many resumes leaves as they are.
std::string resumed_log(std::size_t n) {
  return "{\"kind\":\"start\",\"step\":0,\"time\":1}\n" +
         times(n,
               [](std::size_t i) {
                 return cat(R"({"kind":"eval","step":0,"metrics":{"loss":1}})", "\n",
                            R"({"kind":"step","step":1,"loss":1,"time":)", i, "}\n",
                            R"({"kind":"memory","step":)", i, R"(,"micro":)", 1 + i % 2, "}\n");
               }) +
         times(n,
               [n](std::size_t i) { return cat(R"({"kind":"resume","step":)", 2 * n - i, "}\n"); });
}
Parse history(std::size_t n) {
  return of_file(resumed_log(n), [](const auto& path) { read_history(path); });
}
Parse loss_curve(std::size_t n) {
  return of_file(resumed_log(n), [](const auto& path) { read_loss_curve(path); });
}
Parse run_log(std::size_t n) {
  return of_file(resumed_log(n), [](const auto& path) { read_run_log(path); });
}
Parse all_events(std::size_t n) {
  return of_file(resumed_log(n), [](const auto& path) { effective_events(read_events(path)); });
}
Parse metric_names(std::size_t n) {
  const auto part = [](std::size_t i) { return cat("\"metric ", i, "\":0.5"); };
  return of_file(R"({"kind":"eval","step":1,"metrics":{)" + in_list(n, part) + "}}\n",
                 [](const auto& path) { read_curves(path); });
}
Parse sample_lines(std::size_t n) {
  const auto folder = std::make_shared<TemporaryDirectory>();
  write_file_atomic(
      folder->path() / "samples.jsonl",
      times(n, [](std::size_t) { return std::string("{\"step\":1,\"samples\":[1]}\n"); }) +
          times(n, [n](std::size_t i) { return cat("{\"resume\":", 2 * n - i, "}\n"); }));
  return [folder] { effective_samples(folder->path()); };
}

// -- base, config, media, report
Parse json_numbers(std::size_t n) {
  return
      [text = "[" + in_list(n, [](std::size_t i) { return cat(i); }) + "]"] { parse_json(text); };
}
Parse json_words_of_python(std::size_t n) {
  return [text = "[" + in_list(n, [](std::size_t) { return "NaN"; }) + "]"] {
    parse_python_json(text);
  };
}
Parse toml_keys(std::size_t n) {
  return of_file(times(n, [](std::size_t i) { return cat("key", i, " = ", i, "\n"); }),
                 [](const auto& path) { detail::read_toml(path); });
}
Parse csv_rows(std::size_t n) {
  return [text = "a,b\n" + times(n, [](std::size_t i) { return cat(i, ",\"\"\"\"\n"); })] {
    parse_csv(text, "f");
  };
}
Parse csv_columns(std::size_t n) {
  return [text = in_list(n, [](std::size_t i) { return cat("c", i); }) + "\n"] {
    parse_csv(text, "f");
  };
}
Parse csv_cell_bytes(std::size_t n) {
  return [text = "a\n\"" + std::string(10 * n, 'x') + "\"\n"] { parse_csv(text, "f"); };
}
void read_log(std::string_view text) {
  CsvNumbers numbers = read_csv_numbers(text, "f");
  Trial trial;
  add_foreign_table(std::move(numbers.table), trial);
}
// Steps that go back again and again, and cells that are no numbers.
Parse log_rows(std::size_t n) {
  return [text = "step,time,loss,note\n" + times(n, [n](std::size_t i) {
                   return cat(i % 3 == 2 ? n - i : i, ",", i, ",1,x\n");
                 })] { read_log(text); };
}
Parse log_columns(std::size_t n) {
  return [text = in_list(n, [](std::size_t i) { return cat("run - c", i); }) + "\n" +
                 in_list(n, [](std::size_t i) { return cat(i); }) + "\n"] { read_log(text); };
}
Parse tensorboard_events(std::size_t n) {
  const std::vector<TensorboardScalar> scalars{{"loss", 1.0}};
  return [text = tensorboard_version(1) + times(n, [&](std::size_t i) {
                   return tensorboard_scalars(1, static_cast<std::int64_t>(i), scalars);
                 })] { read_tensorboard(text, "f"); };
}
Parse facts(std::size_t n) {
  const auto part = [](std::size_t i) { return cat("\"fact ", i, "\" = ", i, "\n"); };
  return of_file("lockstep_facts = 1\n[measured]\n" + times(n, part),
                 [](const auto& path) { read_facts_file(path); });
}
Parse unknown_facts(std::size_t n) {
  const auto part = [](std::size_t i) {
    return cat(R"({"key":"<)", i, R"(>","kind":"work","in_a":true,"in_b":false})");
  };
  const auto name = [](std::size_t i) { return cat("\"a & ", i, "\""); };
  const json comparison = json::parse(R"({"kind":"comparison","version":1,"unknown":[)" +
                                      in_list(n, part) + "],\"equal\":[" + in_list(n, name) + "]}");
  return [comparison] {
    const Page page = comparison_page(comparison);
    html_of(page);
    markdown_of(page);
  };
}
Parse metrics_of_a_page(std::size_t n) {
  const auto folder = std::make_shared<TemporaryDirectory>();
  const auto part = [](std::size_t i) { return cat("\"metric ", i, "\":0.5"); };
  std::filesystem::create_directories(folder->path() / "run");
  write_file_atomic(folder->path() / "run/events.jsonl",
                    "{\"kind\":\"start\",\"step\":0,\"time\":1}\n"
                    R"({"kind":"eval","step":1,"time":2,"metrics":{)" +
                        in_list(n, part) + "}}\n");
  write_file_atomic(folder->path() / "run/run.json", "{}");
  return [folder] {
    const RunReport report = read_run_report(RunDir::open("run", folder->path()), {.columns = 16});
    html_of(run_report_page(report, CurveAxis::step));
  };
}

Parse json_rows_of_names(std::size_t n) {
  return of_file(times(n, [](std::size_t i) { return cat("{\"step\":", i, ",\"n", i, "\":1}\n"); }),
                 [](const auto& path) { read_json_log(path); });
}
Parse json_columns(std::size_t n) {
  const auto part = [](std::size_t i) { return cat("\"", i, "\":1"); };
  const std::string column = "{" + in_list(n, part) + "}";
  return of_file("{\"step\":" + column + ",\"loss\":" + column + "}",
                 [](const auto& path) { read_json_log(path); });
}
Parse yaml_lines(std::size_t n) {
  return
      [text = "a: b\n" + times(n, [](std::size_t) { return "  '\\x\"\n"; })] { plain_yaml(text); };
}
// Short lines under a long head.
Parse gpu_log_head_of_names(std::size_t n) {
  return of_file(in_list(n, [](std::size_t i) { return cat("c", i); }) + ",uuid,time\n" +
                     times(n, [](std::size_t) { return "1\n"; }),
                 [](const auto& path) { read_gpu_series(path); });
}
Parse gpu_log_spans(std::size_t n) {
  TimeSpans spans;
  for (std::size_t i = 0; i < n; ++i)
    spans.emplace_back(static_cast<double>(2 * i), static_cast<double>(2 * i + 1));
  return of_file(
      "time,gpu,uuid\n" + times(n, [n](std::size_t i) { return cat(2 * n - i, ",0,GPU-1\n"); }),
      [spans](const auto& path) { read_gpu_use({path}, spans); });
}

// -- jobs
JobGroup group_of(Matrix matrix) {
  JobGroup group{.job = {}, .matrix = std::move(matrix), .base = "/"};
  group.job.command = {"true"};
  return group;
}
MatrixAxis axis(const std::string& name, std::size_t n, bool equal = false) {
  MatrixAxis axis{.names = {name}};
  for (std::size_t i = 0; i < n; ++i) axis.rows.push_back({equal ? "1" : cat(i)});
  return axis;
}
Parse exclusions(std::size_t n) {
  Matrix matrix{.axes = {axis("x", n)}};
  for (std::size_t i = 1; i < n; ++i) matrix.exclude.push_back({.values = {{"x", {cat(i)}}}});
  return [matrix] { expand_matrix(matrix); };
}
Parse equal_jobs(std::size_t n) {
  Matrix matrix{.axes = {axis("x", n, /*equal=*/true)}};
  return [group = group_of(matrix)] { expand_jobs(std::span(&group, 1), {}); };
}
Parse dependent_groups(std::size_t n) {
  std::vector<JobGroup> groups;
  for (std::size_t i = 0; i < n; ++i) {
    groups.push_back(group_of({}));
    groups.back().job.name = cat("group", i);
    groups.back().place = {.file = "f"};
    if (i > 0) groups.back().job.after = {cat("group", i - 1)};
  }
  return [groups] { expand_jobs(groups, {}); };
}
Parse job_tables(std::size_t n) {
  const auto part = [](std::size_t i) {
    return cat("[[jobs]]\nname = \"job", i, "\"\ncommand = [\"true\", \"{out}\"]\n");
  };
  return of_file(times(n, part), [](const auto& path) { read_job_file(path); });
}
Parse job_values(std::size_t n) {
  std::vector<std::string> words{"true", ":::"};
  for (std::size_t i = 0; i < n; ++i) words.push_back(cat("value ", i));
  return [words] { jobs_from_words(words, {}); };
}
Parse quoted_words(std::size_t n) {
  const auto part = [](std::size_t i) { return cat("'a ", i, "' \"b\\\"\" c\\ d "); };
  return [text = times(n, part)] { cli::command_words(text, "the command"); };
}
Parse open_braces(std::size_t n) {
  return [text = times(n, [](std::size_t) { return "{ "; })] { TextTemplate(text, {}); };
}

// -- recipes
Parse coco_entries(std::size_t n) {
  const auto image = [](std::size_t i) {
    return cat("{\"id\":", i, ",\"file_name\":\"", i, ".jpg\",\"width\":9,\"height\":9}");
  };
  const auto annotation = [](std::size_t i) {
    return cat("{\"id\":", i, ",\"image_id\":", i, R"(,"category_id":1,"bbox":[1,1,2,2]})");
  };
  return [text = R"({"categories":[{"id":1,"name":"a"}],"images":[)" + in_list(n, image) +
                 "],\"annotations\":[" + in_list(n, annotation) +
                 "]}"] { fewshot::parse_coco(text, "f", "folder"); };
}
Parse detections(std::size_t n) {
  const auto part = [](std::size_t i) {
    return cat("{\"image_id\":", i, R"(,"category_id":1,"bbox":[1,1,2,2],"score":0.5})");
  };
  fewshot::KnownIds known{.pictures = {}, .classes = {{.category = 1, .name = "a"}}};
  for (std::size_t i = 0; i < n; ++i) known.pictures.push_back({static_cast<std::int64_t>(i), ""});
  return [text = "[" + in_list(n, part) + "]", known] {
    fewshot::parse_results_json(text, "f", known);
  };
}
// A page for each plane, the last plane first.
Parse ome_planes(std::size_t n) {
  const auto part = [n](std::size_t i) {
    return cat("<TiffData FirstZ=\"", n - 1 - i, "\" IFD=\"", i, "\"/>");
  };
  return [n, text = cat("<OME><Image><Pixels DimensionOrder=\"XYZCT\" SizeZ=\"", n, "\">",
                        times(n, part), "</Pixels></Image></OME>")] {
    volume::stack_layout(text, {.pages = static_cast<std::int64_t>(n), .height = 1, .width = 1},
                         [](const std::string& why, const std::string&) { throw Error(why); });
  };
}
Parse voc_objects(std::size_t n) {
  const auto part = [](std::size_t) {
    return "<object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax>"
           "<ymax>2</ymax></bndbox></object>";
  };
  return
      [text = "<annotation>" + times(n, part) + "</annotation>"] { fewshot::parse_voc(text, "f"); };
}
Parse sentences(std::size_t n) {
  const auto part = [](std::size_t i) {
    return cat("{\"ID\":\"", i, R"(","Text":"good food","Triplet":[]})", "\n");
  };
  return [text = times(n, part)] {
    dimabsa::parse_sentences(text, "f", {.task = dimabsa::Task::triplets});
  };
}
Parse aspects(std::size_t n) {
  const auto part = [](std::size_t i) { return cat("\"aspect ", i, "\""); };
  return [text = R"({"ID":"1","Text":"food","Aspect":[)" + in_list(n, part) + "]}\n"] {
    dimabsa::parse_sentences(text, "f", {.task = dimabsa::Task::aspects, .labelled = false});
  };
}
Parse phrase(std::size_t n) {
  return [text = std::string(20 * n, 'a'), phrase = std::string(10 * n, 'a') + "b"] {
    dimabsa::find_phrase(text, phrase);
  };
}
Parse added_tokens(std::size_t n) {
  const auto part = [](std::size_t i) { return cat("\"<token ", i, ">\":", i); };
  const auto extra = [](std::size_t i) { return cat("\"piece", i, "\""); };
  const dimabsa::BertFiles files{
      .folder = "folder",
      .vocab_txt = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n" +
                   times(n, [n](std::size_t i) { return cat("piece", n - 1 - i, "\n"); }),
      .tokenizer_config = "{\"additional_special_tokens\":[" + in_list(n, extra) + "]}",
      .added_tokens = "{" + in_list(n, part) + "}"};
  return [files] { dimabsa::word_piece_settings(files); };
}
// As the recipe reads a file: in chunks, of which this many bytes are read at once.
Parse corpus_of(const std::string& text, bool json) {
  static constexpr std::size_t chunk_bytes = 64;
  return of_file(text, [json](const auto& path) {
    const std::vector<textgen::SourceFile> files{
        {.path = path, .name = "a", .jsonl = true, .json = json}};
    const std::vector<textgen::Segment> segments{{.end = textgen::end_of_text}};
    textgen::ChunkReader reader(files, segments, textgen::Cut::line, chunk_bytes);
    for (textgen::Chunk chunk; reader.next(chunk);)
      textgen::for_each_passage(chunk, "text", 0, /*mend=*/true, [](const textgen::Passage&) {});
  });
}
Parse long_line(std::size_t n) {
  return corpus_of("{\"text\":\"" + std::string(10 * n, 'x') + "\"}\n", /*json=*/false);
}
Parse listed_texts(std::size_t n) {
  return corpus_of("[" + in_list(n, [](std::size_t i) { return cat("\n\"text ", i, "\""); }) + "]",
                   /*json=*/true);
}
Parse listed_element(std::size_t n) {
  return corpus_of(
      "[{\"text\":\"\",\"x\":[" + in_list(n, [](std::size_t) { return "\n1"; }) + "]}]",
      /*json=*/true);
}
Parse gpt2_vocabulary(std::size_t n) {
  json vocabulary = fuzz::byte_vocabulary();
  vocabulary["<|endoftext|>"] = 256;
  for (std::size_t i = 0; i < n; ++i) vocabulary[cat("a", i)] = 257 + i;
  const std::string merges =
      times(n - 10, [](std::size_t i) { return cat("a", i / 10 + 1, " ", i % 10, "\n"); });
  return
      [text = vocabulary.dump(), merges] { textgen::make_gpt2_tokenizer(text, merges, "folder"); };
}

constexpr TimedParser parsers[] = {
    {"SafetensorsNames", safetensors_names},
    {"SafetensorsMetadata", safetensors_metadata},
    {"PickleCalls", pickle_calls},
    {"TorchFileKeys", torch_file_keys},
    {"ZipMembers", zip_members, 1000, 6500},
    {"ManifestFiles", manifest_files},
    {"History", history},
    {"LossCurve", loss_curve, 10'000},
    {"RunLog", run_log},
    {"AllEvents", all_events},
    {"MetricNames", metric_names},
    {"SampleLines", sample_lines},
    {"JsonNumbers", json_numbers},
    {"JsonWordsOfPython", json_words_of_python},
    {"TomlKeys", toml_keys},
    {"CsvRows", csv_rows},
    {"CsvColumns", csv_columns},
    {"CsvCellBytes", csv_cell_bytes},
    {"LogRows", log_rows},
    {"LogColumns", log_columns},
    {"TensorboardEvents", tensorboard_events},
    {"Facts", facts},
    {"UnknownFacts", unknown_facts, 100, 10'000},
    {"MetricsOfAPage", metrics_of_a_page, 100, 1000},
    {"JsonRowsOfNames", json_rows_of_names, 1000, 10'000},
    {"JsonColumns", json_columns},
    {"YamlLines", yaml_lines},
    {"GpuLogHead", gpu_log_head_of_names, 10'000},
    {"GpuLogSpans", gpu_log_spans},
    {"Exclusions", exclusions},
    {"EqualJobs", equal_jobs},
    {"DependentGroups", dependent_groups, 100, 10'000},
    {"JobTables", job_tables, 100, 10'000},
    {"JobValues", job_values},
    {"QuotedWords", quoted_words},
    {"OpenBraces", open_braces},
    {"CocoEntries", coco_entries},
    {"Detections", detections},
    {"OmePlanes", ome_planes, 1000, 5000},
    {"VocObjects", voc_objects, 1000, 10'000},
    {"Sentences", sentences},
    {"Aspects", aspects},
    {"Phrase", phrase},
    {"AddedTokens", added_tokens},
    {"LongLine", long_line},
    {"ListedTexts", listed_texts},
    {"ListedElement", listed_element},
    {"Gpt2Vocabulary", gpt2_vocabulary},
};

// Of the processor.
double seconds_of(const Parse& parse) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  parse();
  return now() - begin;
}

class ParserTime : public ::testing::TestWithParam<TimedParser> {};

TEST_P(ParserTime, GrowsAsTheInputDoes) {
  // Caches and trees let a good parser take up to some 15 times as long; a quadratic one takes
  // 100.
  constexpr double most_times = 25, enough_s = 0.05;
  constexpr int most_rounds = 5;
  const TimedParser& parser = GetParam();
  const auto* const place = std::ranges::find(parsers, parser.name, &TimedParser::name);
  if (!testing::has_turn_twice(static_cast<std::size_t>(place - std::begin(parsers))))
    GTEST_SKIP() << testing::in_another_tenth;
  std::size_t n = parser.n;
  Parse large = parser.prepare(10 * n);
  double large_s = seconds_of(large);
  for (; large_s < enough_s && 2 * n <= parser.most; large_s = seconds_of(large)) {
    n *= 2;
    large = parser.prepare(10 * n);
  }
  const Parse small = parser.prepare(n);
  double small_s = std::min(seconds_of(small), seconds_of(small));
  for (int round = 1; round < most_rounds && large_s > most_times * small_s; ++round) {
    for (int again = 0; again < 10; ++again) small_s = std::min(small_s, seconds_of(small));
    if (large_s > 2 * most_times * small_s && large_s > 10) break;  // it would take too long
    large_s = std::min(large_s, seconds_of(large));
  }
  EXPECT_LE(large_s, most_times * small_s)
      << "ten times as much as " << n << " takes " << large_s / small_s << " times as long";
}

INSTANTIATE_TEST_SUITE_P(Parsers, ParserTime, ::testing::ValuesIn(parsers),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ParserTime, AMillionNamesOfTensorsAreReadInAMoment) {
  constexpr double most_s = 20;  // it takes 1.5
  EXPECT_LE(seconds_of(safetensors_names(1'000'000)), most_s);
}

}  // namespace
}  // namespace lockstep
