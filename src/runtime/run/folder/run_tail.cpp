#include "runtime/run/folder/run_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
void RunTail::take_line(const std::string& line) {
  if (is_step_line(line)) {
    const double step = quick_number(line, "step");
    if (!(step >= 0 && step <= 0x1p53)) return;
    step_ = static_cast<std::int64_t>(step);
    time_left_.on_step(*step_, quick_number(line, "step_s"), quick_number(line, "save_share"),
                       quick_number(line, "data_share") + quick_number(line, "wait_share"));
    const double rate = quick_number(line, "units_per_s");
    units_per_s_ = std::isfinite(rate) ? std::optional(rate) : std::nullopt;
    return;
  }
  const nlohmann::json event = parse_object(line);
  const std::string kind = text_or(event, "kind", "");
  if (kind == "start") {
    step_ = integer_or(event, "step", 0);
    total_steps_ = integer_or(event, "total_steps", 0);
    unit_ = text_or(event, "unit", "samples");
    units_per_s_.reset();
    time_left_.start(*step_);
    time_left_.expect_evaluations(integer_or(event, "eval_every_steps", 0),
                                  number_or(event, "eval_batches", 0));
  } else if (kind == "resume") {
    step_ = integer_or(event, "step", 0);
  } else if (kind == "eval") {
    time_left_.on_eval(integer_or(event, "step", 0),
                       number_or(event, "seconds", 0) - number_or(event, "warm_up_s", 0));
  } else if (kind == "stop" || kind == "end" || kind == "checkpoint") {
    // May lie between two logged steps.
    step_ = std::max(step_.value_or(0), integer_or(event, "step", 0));
  }
}

void RunTail::read_on(std::int64_t most_bytes) {
  // Another user may have created the file, so a pipe in its place must not block this process.
  const UniqueFd file(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  if (file_ != std::pair(info.st_dev, info.st_ino) || info.st_size < offset_) {
    *this = RunTail(path_);
    file_.emplace(info.st_dev, info.st_ino);
  }
  if (damaged_) return;
  const std::int64_t end = std::min<std::int64_t>(info.st_size, offset_ + most_bytes);
  std::vector<char> buffer(
      static_cast<std::size_t>(std::clamp<std::int64_t>(end - offset_, 0, 1 << 20)));
  std::string line;
  for (std::int64_t at = offset_; at < end;) {
    const std::size_t wanted = std::min(buffer.size(), static_cast<std::size_t>(end - at));
    const ssize_t got = pread(file.get(), buffer.data(), wanted, at);
    if (got <= 0) return;
    at += got;
    std::string_view text(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t newline; (newline = text.find('\n')) != text.npos;) {
      line += text.substr(0, newline);
      text.remove_prefix(newline + 1);
      take_line(line);
      line.clear();
      offset_ = at - static_cast<std::int64_t>(text.size());
    }
    line += text;
    damaged_ = line.size() > record_bytes;
    if (damaged_) return;
  }
}

std::optional<double> RunTail::seconds_left() const {
  return total_steps_ > 0 ? time_left_.seconds_left(total_steps_) : std::nullopt;
}

}  // namespace lockstep
