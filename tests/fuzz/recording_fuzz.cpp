// Recordings of `lockstep doctor`. The rules can run on an accepted recording. It can be reported
// and recorded again.
#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "runtime/run/events/json_lines.h"
#include "tools/doctor/evidence/look.h"
#include "tools/doctor/report.h"

namespace lockstep {
namespace {

void report(const Evidence& evidence) {
  const Scene scene = make_scene(evidence);
  const Findings findings = diagnose(scene);
  const Findings own = about(scene, findings, evidence.subject);
  LOCKSTEP_CHECK(own.size() <= findings.size());
  for (const Finding& finding : findings)
    LOCKSTEP_CHECK(!finding.verdict.empty() && !finding.evidence.empty() && !finding.next.empty());
  for (const char letter : report_text(scene, findings, 80))
    LOCKSTEP_CHECK(letter == '\n' || static_cast<unsigned char>(letter) >= 0x20);
  LOCKSTEP_CHECK(!parse_object(to_line(report_json(scene, findings))).is_discarded());
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const fuzz::MemoryFile file, again;
  file.write(fuzz::text_of(data, size));
  Evidence evidence;
  if (!fuzz::accepts([&] { evidence = read_evidence(file.path()); })) return 0;
  report(evidence);
  again.write(recording_of(evidence));
  const Evidence second = read_evidence(again.path());
  LOCKSTEP_CHECK(second.gpus.size() == evidence.gpus.size());
  LOCKSTEP_CHECK(second.samples.size() == evidence.samples.size());
  return 0;
}
