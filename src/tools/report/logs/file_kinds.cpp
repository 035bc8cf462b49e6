#include "tools/report/logs/file_kinds.h"

#include "core/base/files/file_kind.h"
#include "core/base/text/text.h"

namespace lockstep {

std::optional<NoLog> no_log_as_text(std::string_view head, const std::filesystem::path& path) {
  if (head.empty()) return NoLog{"empty", ""};
  if (const auto kind = kind_of_file(head, path))
    return NoLog{kind->name,
                 text_remedy(*kind, path.filename().string(), TextForm::csv_with_index)};
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  const char begin = first == head.npos ? ' ' : head[first];
  if (begin == '{' || head.starts_with("[{") || head.starts_with("[[") || head.starts_with("[\""))
    return NoLog{"JSON", "if it is a log, name it .json, or .jsonl with an object a line"};
  if (begin == '<') return NoLog{"HTML or XML", ""};
  if (const std::size_t zero = head.find('\0'); zero != head.npos)
    return NoLog{cat("no text: byte ", zero + 1, " is NUL"), ""};
  return std::nullopt;
}

}  // namespace lockstep
