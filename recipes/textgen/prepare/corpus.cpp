// Scans a corpus once, before it is tokenized.
#include "recipes/textgen/prepare/corpus.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/file_kind.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/textgen/prepare/parallel.h"
#include "recipes/textgen/prepare/unpacked_file.h"

namespace lockstep::textgen {
namespace {

struct Look {
  // fault: "is a Parquet file"; empty if the file is text. remedy: a hint for the user.
  std::string fault, remedy;
  std::int64_t text_bytes = 0, documents = 0, valid_documents = 0;
};

std::string beginning(const SourceFile& file) {
  std::string head(file_kind_bytes, '\0');
  head.resize(UnpackedFile(file.path).read(head));
  return head;
}

// The result for a file that is no text, because its unpacked content begins as `kind` does.
Look no_text(const FileKind& kind, const SourceFile& file) {
  if (kind.format == FileFormat::gzip || kind.format == FileFormat::zstd)
    return {.fault = "is packed twice", .remedy = "unpack it once, and name what comes out"};
  return {.fault = cat("is ", kind.name, kind.encoding.empty() ? "" : ", but must be in UTF-8"),
          .remedy = text_remedy(kind, file.path.filename().string(), TextForm::json_lines)};
}

// Whether a line or an element of a list is a document. If it is not valid JSON, only its first or
// last characters are checked, and the error is reported when it is read.
bool is_document(std::string_view line, bool in_list, const std::string& field) {
  const nlohmann::json value = parse_python_json(line);
  if (value.is_object()) return value.contains(field);
  if (!value.is_discarded()) return in_list && value.is_string();
  return in_list ? line.front() == '{' || line.front() == '"' : trim(line).ends_with('}');
}

// Checks the first line or element of a .json file. Returns why the file is neither a list of
// documents nor JSON lines, or "" if it is one of them.
std::string form_fault(const Chunk& chunk, const std::string& field) {
  std::string fault;
  bool first = true;
  for_each_line(chunk.bytes, chunk.first_line, [&](std::int64_t, std::string_view line) {
    if (std::exchange(first, false) && !is_document(line, chunk.list, field))
      fault = cat("is JSON, but neither a list of texts, nor a list or lines of objects with the ",
                  "field \"", field, "\"");
  });
  return fault;
}

void count_documents(Look& look, const SourceFile& file, const Chunk& chunk, double valid_share) {
  for_each_line(chunk.bytes, chunk.first_line, [&](std::int64_t number, std::string_view) {
    ++look.documents;
    look.valid_documents += is_validation(line_name(file, number), valid_share);
  });
}

// Decides whether a file is text. It must have no other known format, contain no NUL, and have at
// most 1 % of bytes that are not valid UTF-8.
Look look_at(const SourceFile& file, const TextOptions& options) {
  const double valid_share = options.data.valid_share;
  Look look;
  if (const auto kind = kind_of_file(beginning(file), file.path)) return no_text(*kind, file);
  look.remedy = "name text files in UTF-8; iconv turns other encodings into it";
  const std::vector<SourceFile> files = {file};
  const std::vector<Segment> segments = {{.end = end_of_text}};
  ChunkReader reader(files, segments, Cut::character);
  std::int64_t invalid = 0;
  for (Chunk chunk; reader.next(chunk);) {
    if (const std::size_t nul = chunk.bytes.find('\0'); nul != std::string::npos) {
      look.fault =
          cat("is not text: byte ", look.text_bytes + static_cast<std::int64_t>(nul), " is NUL");
      return look;
    }
    if (file.json && look.text_bytes == 0)
      if (look.fault = form_fault(chunk, options.data.field); !look.fault.empty()) {
        look.remedy = "set data.field to the field that holds the text, or make JSON lines of it";
        return look;
      }
    invalid += static_cast<std::int64_t>(invalid_bytes(chunk.bytes));
    look.text_bytes += static_cast<std::int64_t>(chunk.bytes.size());
    if (file.jsonl) count_documents(look, file, chunk, valid_share);
  }
  if (!file.jsonl) {
    look.documents = 1;
    look.valid_documents = is_validation(file.name, valid_share);
  }
  if (look.text_bytes == 0) {
    look.fault = "holds no text";
    look.remedy = "leave it out";
  }
  if (invalid * 100 > look.text_bytes)
    look.fault =
        cat("is not text: ", invalid, " of its ", look.text_bytes, " bytes are not valid UTF-8");
  return look;
}

std::vector<Look> look_at_all(const std::vector<SourceFile>& files, const TextOptions& options) {
  std::vector<Look> looks;
  const auto worker = [&options](const SourceFile* file) { return look_at(*file, options); };
  std::vector workers(worker_count(), worker);
  std::size_t at = 0;
  ordered_parallel<const SourceFile*, Look>(
      [&](const SourceFile*& file) {
        if (at == files.size()) return false;
        file = &files[at++];
        return true;
      },
      workers, [&](Look look) { looks.push_back(std::move(look)); });
  return looks;
}

// Removes files that are not text. Throws Error if the user named such a file.
void keep_text(std::vector<SourceFile>& files, std::vector<Look>& looks, Corpus& corpus) {
  std::vector<SourceFile> kept;
  std::vector<Look> kept_looks;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (looks[i].fault.empty()) {
      files[i].text_bytes = looks[i].text_bytes;
      kept.push_back(std::move(files[i]));
      kept_looks.push_back(std::move(looks[i]));
      continue;
    }
    if (files[i].named)
      throw Error(cat(files[i].path.string(), " ", looks[i].fault), looks[i].remedy);
    if (corpus.passed_over++ > 0) continue;
    corpus.first_passed_over = cat(files[i].name, " ", looks[i].fault);
    corpus.remedy = looks[i].remedy;
  }
  files = std::move(kept);
  looks = std::move(kept_looks);
}

std::size_t add_file(Corpus& corpus, SourceFile file) {
  corpus.files.push_back(std::move(file));
  return corpus.files.size() - 1;
}

void add_whole(Corpus& corpus, SourceFile file, Role role) {
  const std::int64_t bytes = file.text_bytes;
  const std::size_t index = add_file(corpus, std::move(file));
  corpus.segments.push_back({.file = index, .begin = 0, .end = bytes, .role = role});
}

struct Place {
  std::int64_t offset = 0, line = 1;
};

// The first place at or after `wanted` where the file may be cut. JSON lines are cut at the start
// of a line, so reading starts at the beginning of the file to count lines. Other files are cut at
// the start of a character, so reading starts at `wanted`.
Place cut_place(const SourceFile& file, std::int64_t wanted) {
  const std::vector<SourceFile> files = {file};
  Place place{.offset = file.jsonl ? 0 : wanted};
  const std::vector<Segment> segments = {
      {.file = 0, .begin = place.offset, .end = file.text_bytes}};
  ChunkReader reader(files, segments, Cut::character);
  char before = '\n';
  for (Chunk chunk; reader.next(chunk);)
    for (const char c : chunk.bytes) {
      const bool start =
          file.jsonl ? before == '\n' : (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      if (place.offset >= wanted && start) return place;
      place.line += c == '\n';
      before = c;
      ++place.offset;
    }
  return place;
}

// The files are concatenated. The last `share` of their bytes is for validation.
void split_tail(std::vector<SourceFile> files, double share, Corpus& corpus) {
  std::int64_t total = 0;
  for (const SourceFile& file : files) total += file.text_bytes;
  const auto cut = static_cast<std::int64_t>(static_cast<double>(total) * (1 - share));
  std::int64_t start = 0;
  for (SourceFile& file : files) {
    const std::int64_t end = start + file.text_bytes;
    if (end <= cut || start >= cut) {
      add_whole(corpus, std::move(file), end <= cut ? Role::train : Role::valid);
    } else {
      const Place place = cut_place(file, cut - start);
      const std::int64_t bytes = file.text_bytes;
      const std::size_t index = add_file(corpus, std::move(file));
      corpus.segments.push_back({.file = index, .begin = 0, .end = place.offset});
      if (place.offset < bytes)
        corpus.segments.push_back({.file = index,
                                   .begin = place.offset,
                                   .end = bytes,
                                   .first_line = place.line,
                                   .role = Role::valid});
    }
    start = end;
  }
}

void split_documents(std::vector<SourceFile> files, double share, Corpus& corpus) {
  for (SourceFile& file : files) {
    const Role role = file.jsonl                        ? Role::by_line
                      : is_validation(file.name, share) ? Role::valid
                                                        : Role::train;
    add_whole(corpus, std::move(file), role);
  }
}

void count_bytes(Corpus& corpus, double share) {
  for (const Segment& segment : corpus.segments) {
    const auto bytes = static_cast<double>(segment.end - segment.begin);
    if (segment.role == Role::train) corpus.train_bytes += segment.end - segment.begin;
    if (segment.role == Role::by_line)
      corpus.train_bytes += static_cast<std::int64_t>(bytes * (1 - share));
  }
}

}  // namespace

Corpus look_through(std::vector<SourceFile> train, std::vector<SourceFile> valid,
                    const TextOptions& options) {
  Corpus corpus;
  const double share = options.data.valid_share;
  std::vector<Look> looks = look_at_all(train, options);
  std::vector<Look> valid_looks = look_at_all(valid, options);
  keep_text(train, looks, corpus);
  keep_text(valid, valid_looks, corpus);
  if (train.empty())
    throw Error(
        cat("data.path holds no text: none of its files is UTF-8 text; ", corpus.first_passed_over),
        corpus.remedy);
  std::int64_t documents = 0, valid_documents = 0;
  for (const Look& look : looks) {
    documents += look.documents;
    valid_documents += look.valid_documents;
  }
  corpus.documents = documents;
  for (const Look& look : valid_looks) corpus.documents += look.documents;

  const bool both = valid_documents > 0 && valid_documents < documents;
  const bool by_documents =
      options.data.split == Split::documents ||
      (options.data.split == Split::automatic && documents >= documents_to_split && both);
  if (!valid.empty() || share == 0) {
    for (SourceFile& file : train) add_whole(corpus, std::move(file), Role::train);
    for (SourceFile& file : valid) add_whole(corpus, std::move(file), Role::valid);
  } else if (by_documents) {
    if (!both)
      throw Error(cat("data.split=documents leaves ", valid_documents, " of ", documents,
                      " documents for validation"),
                  "use data.split=tail, another data.valid_share, or data.valid_path");
    split_documents(std::move(train), share, corpus);
  } else {
    split_tail(std::move(train), share, corpus);
  }
  count_bytes(corpus, share);
  return corpus;
}

}  // namespace lockstep::textgen
