// A corpus looked through once.
#include "recipes/textgen/prepare/corpus.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "recipes/textgen/prepare/parallel.h"

namespace lockstep::textgen {
namespace {

struct Look {
  std::string not_text;  // why; empty if it is text
  std::int64_t documents = 0, valid_documents = 0;
};

// A file is text if it holds no NUL and at most one byte of a hundred is no valid UTF-8.
Look look_at(const SourceFile& file, double valid_share) {
  const std::vector<SourceFile> files = {file};
  const std::vector<Segment> segments = {{.file = 0, .begin = 0, .end = file.bytes}};
  ChunkReader reader(files, segments, Cut::character);
  Look look;
  std::int64_t invalid = 0, offset = 0;
  for (Chunk chunk; reader.next(chunk);) {
    if (const std::size_t nul = chunk.bytes.find('\0'); nul != std::string::npos) {
      look.not_text = cat("byte ", offset + static_cast<std::int64_t>(nul), " is NUL");
      return look;
    }
    invalid += static_cast<std::int64_t>(invalid_bytes(chunk.bytes));
    offset += static_cast<std::int64_t>(chunk.bytes.size());
    if (!file.jsonl) continue;
    for_each_line(chunk.bytes, chunk.first_line, [&](std::int64_t number, std::string_view) {
      ++look.documents;
      look.valid_documents += is_validation(line_name(file, number), valid_share);
    });
  }
  if (!file.jsonl) {
    look.documents = 1;
    look.valid_documents = is_validation(file.name, valid_share);
  }
  if (invalid * 100 > file.bytes)
    look.not_text = cat(invalid, " of its ", file.bytes, " bytes are not valid UTF-8");
  return look;
}

std::vector<Look> look_at_all(const std::vector<SourceFile>& files, double valid_share) {
  std::vector<Look> looks;
  const auto worker = [valid_share](const SourceFile* file) { return look_at(*file, valid_share); };
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

// Takes out the files that are not text; they are an error where they were named.
void keep_text(std::vector<SourceFile>& files, std::vector<Look>& looks, Corpus& corpus) {
  std::vector<SourceFile> kept;
  std::vector<Look> kept_looks;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (looks[i].not_text.empty()) {
      kept.push_back(std::move(files[i]));
      kept_looks.push_back(std::move(looks[i]));
      continue;
    }
    if (files[i].named)
      throw Error(cat(files[i].path.string(), " is not text: ", looks[i].not_text),
                  "name text files in UTF-8; iconv turns other encodings into it");
    ++corpus.passed_over;
  }
  files = std::move(kept);
  looks = std::move(kept_looks);
}

std::size_t add_file(Corpus& corpus, SourceFile file) {
  corpus.files.push_back(std::move(file));
  return corpus.files.size() - 1;
}

void add_whole(Corpus& corpus, SourceFile file, Role role) {
  const std::int64_t bytes = file.bytes;
  const std::size_t index = add_file(corpus, std::move(file));
  corpus.segments.push_back({.file = index, .begin = 0, .end = bytes, .role = role});
}

struct Place {
  std::int64_t offset = 0, line = 1;
};

// The first place from `wanted` on where the file may be cut: a line's start, or a character's.
// Lines are counted from the file's start, characters are looked for at `wanted` only.
Place cut_place(const SourceFile& file, std::int64_t wanted) {
  const std::vector<SourceFile> files = {file};
  Place place{.offset = file.jsonl ? 0 : wanted};
  const std::vector<Segment> segments = {{.file = 0, .begin = place.offset, .end = file.bytes}};
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

// The last `share` of the bytes of all files, one after the other, is for validation.
void split_tail(std::vector<SourceFile> files, double share, Corpus& corpus) {
  std::int64_t total = 0;
  for (const SourceFile& file : files) total += file.bytes;
  const auto cut = static_cast<std::int64_t>(static_cast<double>(total) * (1 - share));
  std::int64_t start = 0;
  for (SourceFile& file : files) {
    const std::int64_t end = start + file.bytes;
    if (end <= cut || start >= cut) {
      add_whole(corpus, std::move(file), end <= cut ? Role::train : Role::valid);
    } else {
      const Place place = cut_place(file, cut - start);
      const std::int64_t bytes = file.bytes;
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
  std::vector<Look> looks = look_at_all(train, share);
  std::vector<Look> valid_looks = look_at_all(valid, share);
  keep_text(train, looks, corpus);
  keep_text(valid, valid_looks, corpus);
  if (train.empty())
    throw Error("data.path holds no text: none of its files is UTF-8 text",
                "name text or jsonl files");
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
