#include "tools/cli/predict/item_report.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/predictions/prediction_record.h"
#include "tools/cli/context.h"

#include <system_error>
#include <variant>

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

// If some items were skipped, reports the outputs that are made from all items.
void say_joint_outputs_lack(const ItemTally& tally, const std::vector<std::string>& outputs) {
  constexpr std::size_t most_named = 5;
  if (outputs.empty() || tally.skipped.empty()) return;
  std::vector<std::string> names;
  for (const nlohmann::json& one : tally.skipped)
    if (names.size() < most_named) names.push_back(one.at("name").get<std::string>());
  const std::size_t more = tally.skipped.size() - names.size();
  say(cat("warning: ", join(outputs, " and "), outputs.size() == 1 ? " lacks " : " lack ",
          tally.skipped.size(), " of ", items_text(tally.total), ": ", join(names, ", "),
          more == 0 ? "" : cat(" and ", more, " more")));
}

std::string partial_text(const std::vector<std::string>& partial, const std::string& what) {
  std::string text;
  for (const std::string& name : partial) text += cat("; ", name, " holds ", what);
  return text;
}

void say_how_to_go_on(const std::string& again) {
  if (!again.empty()) say(cat("to go on with the rest: ", again));
}

}  // namespace

void ItemTally::on_event(const nlohmann::json& event) {
  const std::string kind = text_or(event, "kind", "");
  if (kind == "items") {
    done = integer_or(event, "done", done);
    left = integer_or(event, "left", left);
  }
  if (kind == "warning") warnings.push_back(text_or(event, "text", ""));
  if (kind == "item_skipped")
    skipped.push_back(
        {{"name", text_or(event, "name", "")}, {"reason", text_or(event, "reason", "")}});
}

std::string items_text(std::int64_t count) { return cat(count, count == 1 ? " item" : " items"); }

void say_what_is_done(const ItemTally& tally) {
  if (tally.earlier == 0) return;
  say(cat(items_text(tally.total), ": ", tally.earlier, tally.earlier == 1 ? " is" : " are",
          " done already, ", tally.total - tally.earlier, " to do"));
}

int report_items_done(const ItemTally& tally, const fs::path& folder,
                      const std::vector<std::string>& joint_outputs, bool json) {
  say_joint_outputs_lack(tally, joint_outputs);
  const auto skipped = static_cast<std::int64_t>(tally.skipped.size());
  const std::int64_t predicted = tally.done - tally.earlier - skipped;
  if (tally.earlier == tally.total)
    say(cat(tally.total == 1 ? "the item is" : cat("all ", items_text(tally.total), " are"),
            " predicted already, in ", folder.string(), "; --force predicts again"));
  else
    say(cat("predicted ", items_text(predicted), " into ", folder.string(),
            tally.earlier == 0 ? "" : cat("; ", tally.earlier, " were done already"),
            skipped == 0 ? "" : cat("; skipped ", skipped, " of ", tally.total)));
  if (json)
    print(json_text({{"out", folder.string()},
                     {"items", tally.total},
                     {"predicted", predicted},
                     {"already", tally.earlier},
                     {"skipped", tally.skipped},
                     {"warnings", tally.warnings}}));
  return skipped == 0 ? exit_finished : exit_failed;
}

void report_no_time(const ItemTally& tally, const fs::path& folder,
                    const std::vector<std::string>& partial, const std::string& again) {
  const auto skipped = static_cast<std::int64_t>(tally.skipped.size());
  say(cat("predicted ", items_text(tally.done - skipped), " of ", tally.total, " into ",
          folder.string(), "; ", tally.left, " would not have ended before the quota is over",
          partial_text(partial, "the part of those that are done")));
  say_how_to_go_on(again);
}

void report_items_left(const LaunchOutcome& outcome, const ItemTally& tally,
                       const PredictionFolder& folder, const std::vector<std::string>& partial,
                       const std::string& again) {
  if (const auto* const failed = std::get_if<RankFailed>(&outcome); failed && !failed->error) {
    std::error_code ignored;
    const fs::path at = folder.scratch() / cat("at-rank", failed->rank);
    if (fs::exists(at, ignored))
      say(cat("rank ", failed->rank, " was at ", printable(read_file(at))));
  }
  const std::int64_t placed = tally.done - tally.waiting;
  const std::string waiting =
      tally.waiting == 0
          ? ""
          : cat("; ", tally.waiting,
                tally.waiting == 1 ? " of them waits in " : " of them wait in ", records_name,
                " until those before ", tally.waiting == 1 ? "it" : "them", " are done");
  say(cat("not finished: ", tally.done, " of ", tally.total, " items are done, in ",
          folder.path().string(), waiting,
          partial_text(partial,
                       tally.waiting == 0 ? "their part" : cat("the part of the other ", placed))));
  say_how_to_go_on(again);
}

}  // namespace lockstep::cli
