// The documents of a chunk.
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "recipes/textgen/prepare/chunks.h"

namespace lockstep::textgen {
namespace {

[[noreturn]] void bad_line(const SourceFile& file, std::int64_t line, const std::string& why,
                           const std::string& hint) {
  throw Error(cat(file.path.string(), " line ", line, " ", why), hint);
}

std::string text_of_line(const SourceFile& file, std::int64_t number, std::string_view line,
                         const std::string& field) {
  const nlohmann::json value = parse_json(line);
  if (value.is_discarded())
    bad_line(file, number, "is not JSON", "mend or remove the line; each must be one JSON object");
  if (!value.is_object())
    bad_line(file, number, cat("must be a JSON object, but is ", value.type_name()),
             cat("write each line as {\"", field, "\": \"…\"}"));
  const auto found = value.find(field);
  if (found == value.end())
    bad_line(file, number, cat("has no field \"", field, "\""),
             "set data.field to the field that holds the text");
  if (!found->is_string())
    bad_line(file, number, cat("field \"", field, "\" must be a text, but is ", found->type_name()),
             "set data.field to the field that holds the text");
  std::string text = found->get<std::string>();
  if (text.find('\0') != std::string::npos)
    bad_line(file, number, cat("field \"", field, "\" holds a NUL character"),
             "remove it; NUL stands between documents");
  return text;
}

}  // namespace

void for_each_line(std::string_view bytes, std::int64_t first_line,
                   const std::function<void(std::int64_t number, std::string_view line)>& take) {
  for (std::int64_t number = first_line; !bytes.empty(); ++number) {
    const std::size_t end = bytes.find('\n');
    const std::string_view line = bytes.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) take(number, line);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
}

bool is_validation(std::string_view name, double valid_share) {
  // The upper 53 bits as a number in [0, 1).
  return static_cast<double>(hash64(name) >> 11) * 0x1p-53 < valid_share;
}

std::string line_name(const SourceFile& file, std::int64_t line) {
  return cat(file.name, ":", line);
}

void for_each_passage(const Chunk& chunk, const std::string& field, double valid_share, bool mend,
                      const std::function<void(const Passage&)>& take) {
  if (!chunk.file->jsonl) {
    const std::string mended = mend ? mend_utf8(chunk.bytes) : std::string();
    take({.text = mend ? std::string_view(mended) : chunk.bytes,
          .valid = chunk.role == Role::valid,
          .starts_document = chunk.starts_document,
          .ends_document = chunk.ends_document});
    return;
  }
  for_each_line(chunk.bytes, chunk.first_line, [&](std::int64_t number, std::string_view line) {
    const std::string text = text_of_line(*chunk.file, number, line, field);
    if (text.empty()) return;
    const bool valid = chunk.role == Role::by_line
                           ? is_validation(line_name(*chunk.file, number), valid_share)
                           : chunk.role == Role::valid;
    take({.text = text, .valid = valid});
  });
}

}  // namespace lockstep::textgen
