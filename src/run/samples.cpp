// Writes and reads the record of samples.
#include "run/samples.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "run/json_lines.h"
#include "run/step_list.h"

namespace lockstep {
namespace {

using Samples = std::vector<std::int64_t>;

// A line has the samples of a step, of which a large batch has many.
constexpr std::uint64_t most_line_bytes = 256 << 20;

bool is_list_of_integers(const nlohmann::json& value) {
  if (!value.is_array()) return false;
  for (const nlohmann::json& item : value)
    if (!item.is_number_integer()) return false;
  return true;
}

void take_line(const std::string& line, StepList<Samples>& steps) {
  const nlohmann::json value = parse_object(line);
  if (value.is_discarded()) return;
  if (value.contains("resume") && value["resume"].is_number_integer()) {
    steps.take_back(value["resume"].get<std::int64_t>());
  } else if (value.contains("step") && value["step"].is_number_integer() &&
             value.contains("samples") && is_list_of_integers(value["samples"])) {
    steps.add(value["step"].get<std::int64_t>(), value["samples"].get<Samples>());
  }
}

}  // namespace

SampleWriter::SampleWriter(const std::filesystem::path& path)
    : path_(path), file_(open_lines(path)) {}

void SampleWriter::write(std::int64_t step, std::span<const std::int64_t> samples) {
  std::string line = cat("{\"step\":", step, ",\"samples\":[");
  for (std::size_t i = 0; i < samples.size(); ++i)
    line += (i ? "," : "") + std::to_string(samples[i]);
  append(line + "]}");
}

void SampleWriter::resume(std::int64_t step) { append(cat("{\"resume\":", step, "}")); }

void SampleWriter::sync() {
  if (fdatasync(file_.get()) != 0)
    throw Error(cat("cannot write ", path_.string(), ": ", errno_text(errno)));
}

void SampleWriter::append(const std::string& line) {
  if (!append_line(file_.get(), line))
    throw Error(cat("cannot write ", path_.string(), ": ", errno_text(errno)),
                "free some space, or train without run.record_samples");
}

std::vector<std::vector<std::int64_t>> effective_samples(const std::filesystem::path& run) {
  StepList<Samples> steps;
  for_each_line(
      run / "samples.jsonl", [&](const std::string& line) { take_line(line, steps); },
      most_line_bytes);
  return steps.take();
}

}  // namespace lockstep
