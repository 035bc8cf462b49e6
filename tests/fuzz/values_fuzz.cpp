// Single values as people type them: times, numbers, lists, changes of the micro-batch, and names
// of runs and checkpoints. Reading the printed form of an accepted value must give the same value.
#include "fuzz.h"

#include <vector>

#include "core/config/options.h"
#include "core/config/parse.h"
#include "planning/batch/micro_batch.h"
#include "runtime/run/checkpoint/checkpoint_names.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep {
namespace {

void check_numbers(std::string_view text) {
  detail::parse_boolean(text);
  detail::parse_integer(text);
  if (const auto real = detail::parse_real(text))
    LOCKSTEP_CHECK(detail::parse_real(detail::format_real(*real)) == real);
  if (const auto list = detail::parse_list(text))
    LOCKSTEP_CHECK(detail::parse_list(detail::format_list(*list)) == list);
  Duration duration;
  if (fuzz::accepts([&] { duration = parse_duration(text); })) {
    LOCKSTEP_CHECK(duration.seconds >= 0);
    LOCKSTEP_CHECK(parse_duration(format_duration(duration)) == duration);
  }
}

void check_micro_changes(const std::string& text) {
  std::vector<MicroChange> changes;
  if (!fuzz::accepts([&] { changes = parse_micro_changes(text); })) return;
  for (const MicroChange& change : changes) LOCKSTEP_CHECK(change.step >= 0 && change.micro > 0);
  LOCKSTEP_CHECK(parse_micro_changes(format_micro_changes(changes)) == changes);
}

// An accepted name must not lead out of its folder.
void check_names(const std::string& text) {
  if (const auto step = step_of(text)) {
    LOCKSTEP_CHECK(*step >= 0 && checkpoint_name(*step) == text);
    LOCKSTEP_CHECK(text.find('/') == text.npos && text.find('.') == text.npos);
  }
  const std::filesystem::path root = "/nowhere";
  if (!fuzz::accepts([&] { RunDir::check_new(root, text); }) || text.empty()) return;
  LOCKSTEP_CHECK(text.find('/') == text.npos && text.find('\0') == text.npos);
  LOCKSTEP_CHECK((root / text).lexically_normal().parent_path() == root);
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  const std::string text(fuzz::text_of(data, size));
  check_numbers(text);
  check_micro_changes(text);
  check_names(text);
  return 0;
}
