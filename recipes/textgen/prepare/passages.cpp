// Finds the documents in a chunk.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/textgen/prepare/chunks.h"

namespace lockstep::textgen {
namespace {

using nlohmann::json;

// The place of a line, or of an element in a list.
struct LinePlace {
  const Chunk& chunk;
  std::int64_t number;

  [[noreturn]] void fail(const std::string& why, const std::string& hint) const {
    throw Error(
        cat(chunk.file->path.string(), chunk.list ? " document " : " line ", number, " ", why),
        hint);
  }
};

// The column of a byte. Columns count characters.
std::size_t column_of(std::string_view line, std::size_t offset) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  offset = std::min(offset, line.size());
  return 1 + static_cast<std::size_t>(std::count_if(
                 line.begin(), line.begin() + static_cast<std::ptrdiff_t>(offset), begins));
}

// A NaN, which Python writes, is read as null.
json parse_line(std::string_view line, const LinePlace& place) {
  json value = parse_json(line);
  if (value.is_discarded()) value = parse_python_json(line, PythonNumber::null);
  if (!value.is_discarded()) return value;
  const JsonFault fault = json_fault(line);
  place.fail(cat("is not JSON: column ", column_of(line, fault.offset), ": ", fault.reason),
             place.chunk.list ? "mend or remove this element of the list"
                              : "mend or remove the line; each must be one JSON object");
}

std::string text_of_line(std::string_view line, const std::string& field, const LinePlace& place) {
  const json value = parse_line(line, place);
  const bool is_text = place.chunk.list && value.is_string();
  if (!is_text && !value.is_object())
    place.fail(
        cat("must be a JSON object", place.chunk.list ? " or a text" : "", ", but is ",
            value.type_name()),
        cat("write each ", place.chunk.list ? "element" : "line", " as {\"", field, "\": \"…\"}"));
  const std::string name = is_text ? "" : cat("field \"", field, "\" ");
  if (!is_text && !value.contains(field))
    place.fail(cat("has no ", trim(name)), "set data.field to the field that holds the text");
  const json& found = is_text ? value : value[field];
  if (!found.is_string())
    place.fail(cat(name, "must be a text, but is ", found.type_name()),
               found.is_null() ? "remove what has no text, or set data.field to another field"
                               : "set data.field to the field that holds the text");
  std::string text = found.get<std::string>();
  if (text.find('\0') != std::string::npos)
    place.fail(cat(name, "holds a NUL character"), "remove it; NUL stands between documents");
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
  // Converts the upper 53 bits to a number in [0, 1).
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
    const std::string text = text_of_line(line, field, {chunk, number});
    if (text.empty()) return;
    const bool valid = chunk.role == Role::by_line
                           ? is_validation(line_name(*chunk.file, number), valid_share)
                           : chunk.role == Role::valid;
    take({.text = text, .valid = valid});
  });
}

}  // namespace lockstep::textgen
