#include "tools/jobs/job_file/job_requests.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/parse.h"

namespace lockstep {
namespace {

constexpr double least_share = 0.25;

[[noreturn]] void fail_gpus(std::string_view text) {
  throw Error(cat("gpus must be 0, a whole number of devices, a part of one from 0.25 to below 1, "
                  "or auto, but is ",
                  text),
              text.find('.') != text.npos ? "at most four jobs share a device: gpus = 0.25" : "");
}

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array<Unit, 14> units{{{"", 1},
                                      {"b", 1},
                                      {"k", 0x1p10},
                                      {"kib", 0x1p10},
                                      {"kb", 1e3},
                                      {"m", 0x1p20},
                                      {"mib", 0x1p20},
                                      {"mb", 1e6},
                                      {"g", 0x1p30},
                                      {"gib", 0x1p30},
                                      {"gb", 1e9},
                                      {"t", 0x1p40},
                                      {"tib", 0x1p40},
                                      {"tb", 1e12}}};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

GpuRequest parse_gpus(std::string_view text) {
  if (trim(text) == "auto") return {.kind = GpuRequest::Kind::automatic};
  const auto number = detail::parse_real(text);
  if (!number || *number < 0 || *number > most_gpus_of_a_job) fail_gpus(text);
  if (*number == 0) return {};
  if (*number == std::floor(*number))
    return {.kind = GpuRequest::Kind::whole, .devices = static_cast<int>(*number)};
  if (*number < least_share || *number > 1) fail_gpus(text);
  return {.kind = GpuRequest::Kind::share, .share = *number};
}

std::int64_t parse_memory_size(std::string_view text) {
  const std::string size = trim(text);
  const std::size_t end = size.find_first_not_of("0123456789._");
  const auto number = detail::parse_real(std::string_view(size).substr(0, end));
  const std::string name = end == size.npos ? "" : lower(trim(std::string_view(size).substr(end)));
  for (const Unit& unit : units)
    if (unit.name == name && number && *number * unit.bytes >= 1 && *number * unit.bytes < 0x1p62)
      return std::llround(*number * unit.bytes);
  throw Error(cat("\"", text, "\" is not a size of memory"),
              "write a number with B, KiB, MiB, GiB or TiB, such as 2GiB");
}

GpuMemoryRequest parse_gpu_memory(std::string_view text) {
  if (trim(text) == "measure") return {.kind = GpuMemoryRequest::Kind::measure};
  if (trim(text) == "all") return {.kind = GpuMemoryRequest::Kind::all};
  try {
    return {.kind = GpuMemoryRequest::Kind::bytes, .bytes = parse_memory_size(text)};
  } catch (const Error&) {
    throw Error(
        cat("gpu_memory must be a size of memory such as 2GiB, measure or all, but is ", text),
        nearest(text, std::array<std::string, 1>{"measure"}).empty() ? ""
                                                                     : "did you mean measure?");
  }
}

bool parse_workers(std::string_view text) {
  if (text == "kept" || text == "new") return text == "kept";
  throw Error(cat("workers must be \"new\" or \"kept\", but is \"", text, "\""),
              "how many jobs run at once: --slots N; how many share a GPU: gpus, such as 0.25");
}

}  // namespace lockstep
