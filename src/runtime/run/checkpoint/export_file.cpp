// Writes an export: a header, whose checksum is filled in at the end, and then the data.
#include "runtime/run/checkpoint/export_file.h"

#include "core/base/error.h"
#include "core/base/files/file_kind.h"
#include "core/base/files/files.h"
#include "core/base/files/new_file.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/text/base64.h"
#include "core/base/text/glob.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/base/whole_number.h"
#include "runtime/run/formats/safetensors.h"
#include "runtime/run/formats/torch_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr const char* record_key = "lockstep.record";
constexpr const char* step_key = "lockstep.step";
constexpr const char* average_key = "lockstep.average";
constexpr const char* checksum_key = "lockstep.checksum";
constexpr const char* file_prefix = "lockstep.file.";
constexpr std::size_t checksum_digits = 32;
constexpr std::size_t piece_bytes = 1 << 20;
// Less than the 100 MB to which a header is limited.
constexpr std::size_t most_file_bytes = 64 << 20;

// A safetensors file whose tensors are found by name.
struct Source {
  fs::path path;
  SafetensorsHeader header;
  std::ifstream stream;
  std::map<std::string_view, const TensorEntry*> by_name;  // entries of the header

  explicit Source(fs::path file)
      : path(std::move(file)), header(read_header(path)), stream(path, std::ios::binary) {
    for (const TensorEntry& entry : header.tensors) by_name.emplace(entry.name, &entry);
  }
  Source(Source&&) = delete;

  const TensorEntry* find(const TensorEntry& like) const {
    const auto found = by_name.find(like.name);
    const bool same = found != by_name.end() && found->second->dtype == like.dtype &&
                      found->second->shape == like.shape;
    return same ? found->second : nullptr;
  }

  void copy(const TensorEntry& entry, const std::function<void(std::string_view)>& to) {
    stream.seekg(static_cast<std::streamoff>(header.data_start + entry.begin));
    std::string piece;
    for (std::uint64_t left = entry.end - entry.begin; left > 0; left -= piece.size()) {
      piece.resize(std::min<std::uint64_t>(left, piece_bytes));
      if (!stream.read(piece.data(), static_cast<std::streamsize>(piece.size())))
        throw Error(cat("cannot read ", path.string(), ": ", errno_text(errno)));
      to(piece);
    }
  }
};

std::map<std::string, std::string> metadata_of(const Source& model, const Exported& exported) {
  std::map<std::string, std::string> metadata = model.header.metadata;
  metadata[record_key] = exported.record.dump();
  metadata[step_key] = cat(exported.step);
  metadata[average_key] = exported.average ? "true" : "false";
  metadata[checksum_key] = std::string(checksum_digits, '0');
  std::size_t bytes = 0;
  for (const auto& [name, content] : exported.files) {
    metadata[file_prefix + name] = to_base64(content);
    bytes += content.size();
  }
  if (bytes > most_file_bytes)
    throw Error(cat("the recipe keeps ", format_bytes(static_cast<double>(bytes)),
                    " of files in the run, and an export has room for ",
                    format_bytes(static_cast<double>(most_file_bytes))),
                "copy the run's folder instead");
  return metadata;
}

// Where the digits of the checksum begin in the header. Returns npos if it has none. No other text
// looks like this key, because quotes inside texts are escaped.
std::size_t checksum_place(const std::string& header) {
  const std::string before = cat('"', checksum_key, "\":\"");
  const std::size_t at = header.find(before);
  const std::size_t place = at + before.size();
  return at == header.npos || place + checksum_digits > header.size() ? header.npos : place;
}

class HashedFile {
 public:
  explicit HashedFile(const fs::path& file) : file_(file) {}
  void append(std::string_view bytes) {
    hash_.update(bytes);
    file_.append(bytes);
  }
  void write_checksum(std::size_t at) {
    const std::string digits = hash_.hex();
    if (pwrite(file_.fd(), digits.data(), digits.size(), static_cast<off_t>(at)) !=
        static_cast<ssize_t>(digits.size()))
      file_.fail(errno);
  }
  void finish() { file_.commit(); }

 private:
  NewFile file_;
  Hasher hash_;
};

// Reads the tensors of a checkpoint. With `average`, a tensor that has averaged weights gives
// those.
class Tensors {
 public:
  Tensors(const CheckpointInfo& checkpoint, bool average)
      : model_(checkpoint.path / "model.safetensors") {
    if (average) average_.emplace(checkpoint.path / "ema.safetensors");
  }
  const Source& model() const { return model_; }
  void copy(const TensorEntry& entry, HashedFile& out) {
    const auto append = [&](std::string_view bytes) { out.append(bytes); };
    const TensorEntry* const average = average_ ? average_->find(entry) : nullptr;
    average != nullptr ? average_->copy(*average, append) : model_.copy(entry, append);
  }

 private:
  Source model_;
  std::optional<Source> average_;
};

// The new name of a tensor. Nothing means that the tensor is left out.
std::optional<std::string> renamed_by(const std::vector<NamePair>& names, const std::string& name) {
  for (const auto& [from, to] : names)
    if (auto as = glob_renamed(from, to, name)) return as;
  return std::nullopt;
}

// The exported tensors and their new names, in the order of the model's file.
struct Renamed {
  std::vector<TensorEntry> from, to;
  // Further names of the same tensors, as an export stores them.
  std::map<std::string, std::string> metadata;
};
Renamed rename_tensors(const SafetensorsHeader& header, const std::vector<NamePair>& names) {
  Renamed renamed;
  // The other names of each tensor.
  std::map<std::string_view, std::vector<std::string_view>> others;
  for (const auto& [other, first] : header.metadata) others[first].push_back(other);
  for (const TensorEntry& entry : header.tensors) {
    std::vector<std::string> all;
    if (auto own = renamed_by(names, entry.name)) all.push_back(std::move(*own));
    if (const auto found = others.find(entry.name); found != others.end())
      for (const std::string_view other : found->second)
        if (auto as = renamed_by(names, std::string(other))) all.push_back(std::move(*as));
    if (all.empty()) continue;
    renamed.from.push_back(entry);
    renamed.to.push_back(entry);
    renamed.to.back().name = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) renamed.metadata[all[i]] = all[0];
  }
  return renamed;
}

// Checks that each pair matches a tensor, and that no two tensors get the same name.
void check_renamed(const Renamed& renamed, const SafetensorsHeader& header,
                   const std::vector<NamePair>& names) {
  std::vector<std::string> known;
  for (const TensorEntry& entry : header.tensors) known.push_back(entry.name);
  for (const auto& [other, first] : header.metadata) known.push_back(other);
  for (const auto& [from, to] : names)
    if (std::none_of(known.begin(), known.end(), [&, &from = from](const std::string& name) {
          return glob_matches(from, name);
        }))
      throw Error(cat("no tensor of the model is named ", from),
                  cat("its first is ", known.empty() ? "none" : known[0]));
  std::set<std::string> seen;
  for (const TensorEntry& entry : renamed.to)
    if (!seen.insert(entry.name).second || renamed.metadata.contains(entry.name))
      throw Error(cat("two tensors of the model would be named ", entry.name),
                  "let the pairs lead to different names");
}

[[noreturn]] void damaged_export(const fs::path& file, const std::string& why) {
  throw Error(cat(file.string(), " is damaged: ", why),
              "copy it again, or export it again with `lockstep export`");
}

// Checks the checksum of all bytes, in which the checksum itself is replaced by zeros.
void check_checksum(const fs::path& file, std::uint64_t header_bytes, const std::string& expected) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(header_bytes, '\0');
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    damaged_export(file, "its header cannot be read");
  const std::size_t place = checksum_place(bytes);
  if (place == bytes.npos) damaged_export(file, "its checksum is not where it belongs");
  bytes.replace(place, checksum_digits, checksum_digits, '0');
  Hasher hash;
  while (!bytes.empty()) {
    hash.update(bytes);
    bytes.resize(piece_bytes);
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
  }
  if (hash.hex() != expected) damaged_export(file, "its bytes do not have the checksum it names");
}

bool is_plain_path(const std::string& name) {
  const fs::path path = name;
  return path.has_filename() && path.is_relative() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

// A hint on how to use a file of weights that holds no run.
std::string weights_hint(const fs::path& file) {
  return cat("`lockstep train RECIPE ", shell_word(cat("init.from=", file.string())),
             "` begins with its weights; `lockstep export RUN --out FILE` makes an export");
}

const std::string& text_of(const SafetensorsHeader& header, const fs::path& file, const char* key) {
  const auto found = header.metadata.find(key);
  if (found != header.metadata.end()) return found->second;
  throw Error(cat(file.string(), " is no export of a run: it has no ", key), weights_hint(file));
}

bool is_torch_file(const fs::path& file) try {
  read_torch_file(file);
  return true;
} catch (const Error&) {
  return false;
}

// Returns nothing for a safetensors file or an unknown kind of file.
std::optional<FileKind> other_kind(const fs::path& file) {
  std::string head(file_kind_bytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  std::optional<FileKind> kind = kind_of_file(head, file);
  if (kind && kind->format == FileFormat::safetensors) kind.reset();
  return kind;
}

// Reads the header of a file that the user named instead of a run or an export.
SafetensorsHeader header_of_named(const fs::path& file) {
  try {
    return read_header(file);
  } catch (const Error& error) {
    if (is_torch_file(file))
      throw Error(cat(file.string(), " is a file of torch.save, which holds no run"),
                  weights_hint(file));
    if (const auto kind = other_kind(file))
      throw Error(cat(file.string(), " is ", kind->name, ", no run and no export of one"),
                  cat("name a run, or a file that `lockstep export RUN --out FILE` made; inputs of "
                      "predictions follow it: lockstep predict RUN ",
                      shell_word(file.string())));
    throw Error(error.what(),
                "name a run, or a file that `lockstep export RUN --out FILE` made; if it is one, "
                "copy it again");
  }
}

std::int64_t step_in(const SafetensorsHeader& header, const fs::path& file) {
  const auto step = whole_number<std::int64_t>(text_of(header, file, step_key), 0);
  if (!step) damaged_export(file, cat(step_key, " is no step"));
  return *step;
}

}  // namespace

std::map<std::string, std::string> kept_files(const fs::path& folder,
                                              const std::vector<std::string>& required) {
  constexpr int deepest = 32;
  std::map<std::string, std::string> files;
  if (fs::is_symlink(folder))
    throw Error(cat(folder.string(), " is a link: what it leads to is no part of the run"),
                "put the folder itself in its place");
  if (fs::exists(folder)) try {
      for (fs::recursive_directory_iterator at(folder), end; at != end; ++at) {
        const fs::directory_entry& entry = *at;
        if (at.depth() > deepest)
          throw Error(cat(folder.string(), " holds folders in each other, more than ", deepest),
                      "an export has no place for them: move them away");
        if (entry.symlink_status().type() != fs::file_type::regular) continue;
        const std::string name = entry.path().lexically_relative(folder).string();
        if (invalid_bytes(name) > 0)
          throw Error(cat("the name of ", printable(entry.path().string()), " is no UTF-8 text"),
                      "an export has no place for it: move it away");
        files[name] = read_file(entry.path(), list_bytes);
      }
    } catch (const fs::filesystem_error& error) {
      throw Error(cat("cannot list ", error.path1().string(), ": ", error.code().message()),
                  "a folder that you may read must lie there");
    }
  for (const std::string& name : required)
    if (!files.contains(name))
      throw Error(
          cat("the run's recipe kept the file ", (folder / name).string(), ", but it is not there"),
          "without it the model is of no use: bring it back");
  return files;
}

void write_export(const fs::path& file, const CheckpointInfo& checkpoint,
                  const Exported& exported) {
  Tensors tensors(checkpoint, exported.average);
  std::vector<TensorEntry> entries = tensors.model().header.tensors;
  const std::string header = make_header(entries, metadata_of(tensors.model(), exported));
  HashedFile out(file);
  out.append(header);
  for (const TensorEntry& entry : tensors.model().header.tensors) tensors.copy(entry, out);
  out.write_checksum(checksum_place(header));
  out.finish();
}

std::size_t write_renamed(const fs::path& file, const CheckpointInfo& checkpoint, bool average,
                          const std::vector<NamePair>& names) {
  Tensors tensors(checkpoint, average);
  Renamed renamed = rename_tensors(tensors.model().header, names);
  check_renamed(renamed, tensors.model().header, names);
  HashedFile out(file);
  out.append(make_header(renamed.to, renamed.metadata));
  for (const TensorEntry& entry : renamed.from) tensors.copy(entry, out);
  out.finish();
  return renamed.to.size();
}

Exported read_export(const fs::path& file) {
  const SafetensorsHeader header = header_of_named(file);
  const std::string& record = text_of(header, file, record_key);
  check_checksum(file, header.data_start, text_of(header, file, checksum_key));
  Exported exported{.record = parse_json(record), .step = step_in(header, file)};
  if (!exported.record.is_object()) damaged_export(file, "its record is no JSON object");
  exported.average = text_of(header, file, average_key) == "true";
  for (const auto& [key, text] : header.metadata) {
    if (!key.starts_with(file_prefix)) continue;
    const std::string name = key.substr(std::string(file_prefix).size());
    auto content = from_base64(text);
    if (!content || !is_plain_path(name)) damaged_export(file, cat(key, " is no file"));
    exported.files[name] = std::move(*content);
  }
  return exported;
}

void check_export(const fs::path& file) {
  const SafetensorsHeader header = read_header(file);
  const auto checksum = header.metadata.find(checksum_key);
  if (checksum != header.metadata.end()) check_checksum(file, header.data_start, checksum->second);
}

std::int64_t step_of_export(const fs::path& file) { return step_in(read_header(file), file); }

std::string checksum_of_export(const fs::path& file) {
  return text_of(read_header(file), file, checksum_key);
}

}  // namespace lockstep
