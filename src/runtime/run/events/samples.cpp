// Writes and reads the record of samples.
#include "runtime/run/events/samples.h"

#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/json/json_number.h"
#include "core/base/text/text.h"
#include "runtime/run/curves/step_list.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/events/last_line.h"

namespace lockstep {
namespace {

using Samples = std::vector<std::int64_t>;

// A line holds the samples of one step, and a large batch has many.
constexpr std::uint64_t most_line_bytes = 256 << 20;

std::optional<Samples> samples_of(const nlohmann::json& value) {
  if (!value.is_array()) return std::nullopt;
  Samples samples;
  for (const nlohmann::json& item : value) {
    const auto number = whole_number_of(item, std::numeric_limits<std::int64_t>::min());
    if (!number) return std::nullopt;
    samples.push_back(*number);
  }
  return samples;
}

// The step of an entry, or the step after which training resumes.
std::optional<std::int64_t> last_step_in(const nlohmann::json& line) {
  for (const char* key : {"step", "resume"})
    if (line.is_object() && line.contains(key))
      if (const auto step = whole_number_of(line[key])) return step;
  return std::nullopt;
}

void take_line(const std::string& line, StepList<Samples>& steps) {
  const nlohmann::json value = parse_object(line);
  if (value.is_discarded()) return;
  const auto number = [&](const char* key) {
    return value.contains(key) ? whole_number_of(value[key]) : std::nullopt;
  };
  if (const auto resumed = number("resume")) {
    steps.take_back(*resumed);
  } else if (const auto step = number("step"); step && value.contains("samples")) {
    if (auto samples = samples_of(value["samples"])) steps.add(*step, std::move(*samples));
  }
}

}  // namespace

SampleWriter::SampleWriter(const std::filesystem::path& path)
    : path_(path), file_(open_lines(path)) {
  const std::optional<std::string> last = last_whole_line(file_.get(), path, most_line_bytes);
  if (!last) return;
  last_ = last_step_in(parse_object(*last));
  is_damaged_ = !last_;
}

std::string SampleWriter::write(std::int64_t step, std::span<const std::int64_t> samples) {
  if (!is_recording_) return "";
  std::string line = cat("{\"step\":", step, ",\"samples\":[");
  for (std::size_t i = 0; i < samples.size(); ++i)
    line += (i ? "," : "") + std::to_string(samples[i]);
  return append(line + "]}", step);
}

std::string SampleWriter::resume(std::int64_t step) {
  if (is_damaged_) return stop(cat("the last line of ", path_.string(), " is damaged"));
  if (last_ && step > *last_)
    return stop(cat(path_.string(), " ends with step ", *last_, ", before step ", step,
                    ", after which training goes on"));
  return append(cat("{\"resume\":", step, "}"), step);
}

void SampleWriter::sync() {
  if (fdatasync(file_.get()) != 0)
    throw Error(cat("cannot write ", path_.string(), ": ", errno_text(errno)));
}

std::string SampleWriter::append(const std::string& line, std::int64_t step) {
  if (!append_line(file_.get(), line))
    return stop(cat("cannot write ", path_.string(), ": ", errno_text(errno)));
  last_ = step;
  is_recording_ = true;
  return "";
}

std::string SampleWriter::stop(std::string why) {
  return std::exchange(is_recording_, false) ? std::move(why) : "";
}

std::vector<std::vector<std::int64_t>> effective_samples(const std::filesystem::path& run) {
  StepList<Samples> steps;
  for_each_line(
      run / "samples.jsonl", [&](const std::string& line) { take_line(line, steps); },
      most_line_bytes);
  return steps.take();
}

}  // namespace lockstep
