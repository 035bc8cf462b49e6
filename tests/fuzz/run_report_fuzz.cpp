// Reports of runs: events.jsonl, gpu.csv and run.json, with a byte 0x1e between them, become a
// page, as HTML, Markdown and JSON, and what is exported for TensorBoard. A long run makes one of
// these of each input, because all together take 6 ms.
#include "fuzz.h"

#include <array>
#include <functional>
#include <string_view>

#include "core/base/files/files.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/formats/tensorboard_log.h"
#include "tools/report/exports/event_limits.h"
#include "tools/report/reports/overlay_report.h"
#include "tools/report/reports/run_report.h"

namespace lockstep {
namespace {

struct Files {
  TemporaryDirectory root;
  fuzz::MemoryFile events, gpus, record;
  Files() {
    std::filesystem::create_directory(root.path() / "run");
    std::filesystem::create_symlink(events.path(), root.path() / "run/events.jsonl");
    std::filesystem::create_symlink(gpus.path(), root.path() / "run/gpu.csv");
    std::filesystem::create_symlink(record.path(), root.path() / "run/run.json");
  }
};

void check_page(const Page& page) {
  const std::string html = html_of(page);
  LOCKSTEP_CHECK(html.ends_with("</html>\n"));
  LOCKSTEP_CHECK(html.find("<script") == html.npos);
  LOCKSTEP_CHECK(!markdown_of(page).empty());
}

// The lines that count are those that every other reader of events takes.
void check_lines(const std::filesystem::path& events) {
  std::int64_t lines = 0;
  for_each_effective_line(events, [&](const std::string& line) {
    const nlohmann::json event = parse_object(line);
    if (event.is_discarded()) return;
    ++lines;
    for (const auto& [tag, value] : scalars_of_event(event, "samples"))
      LOCKSTEP_CHECK(!tag.empty());
  });
  LOCKSTEP_CHECK(lines >= 0);
}

void check_report(const RunDir& run) {
  check_page(run_report_page(read_run_report(run, {.columns = 16}), CurveAxis::step));
}

void check_report_json(const RunDir& run) {
  LOCKSTEP_CHECK(run_report_json(read_run_report(run, {.columns = 16})).is_object());
}

void check_overlay(const RunDir& run) {
  check_page(overlay_page({read_overlaid_run(run, 0.5, 8), read_overlaid_run(run, {}, 16)},
                          CurveAxis::samples));
}

void check_overlay_json(const RunDir& run) {
  LOCKSTEP_CHECK(overlay_json({read_overlaid_run(run, 0.5, 8)}).is_object());
  check_lines(run.events_path());
}

constexpr std::array checks = {check_report, check_report_json, check_overlay, check_overlay_json};

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const Files files;
  std::string_view text = fuzz::text_of(data, size);
  files.events.write(fuzz::take_part(text, '\x1e'));
  files.gpus.write(fuzz::take_part(text, '\x1e'));
  files.record.write(text);
  const RunDir run = RunDir::open("run", files.root.path());
  // A pointer of Git LFS in place of a file is refused.
#ifdef LOCKSTEP_LIBFUZZER
  const auto which = std::hash<std::string_view>()(fuzz::text_of(data, size)) % checks.size();
  fuzz::accepts([&] { checks[which](run); });
#else
  for (const auto check : checks) fuzz::accepts([&] { check(run); });
#endif
  return 0;
}
