#include "tools/cli/words/translation/hint_notes.h"

#include "core/base/text/text.h"
#include "core/config/synonym.h"
#include "tools/cli/words/both_words.h"
#include "tools/cli/words/foreign_batch.h"
#include "tools/cli/words/shell_line.h"
#include "tools/cli/words/translation/name_words.h"
#include "tools/cli/words/translation/translation.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

// The batch.global of the line if its program used one device, or one process on the CPU. "" if
// there is one device anyway, or if the line names the devices.
std::string batch_of_one(const Vocabulary& known, const TypedLine& line, const Translation& all) {
  const OurWord* const devices = devices_word(all.words);
  if (all.devices == 1 ||
      (devices != nullptr && devices->value != "all" && devices->value != "cpu"))
    return "";
  for (const OurWord& word : translated_for(known, line, 1, /*has_presets=*/false).words)
    if (word.name == "batch.global") return word.value;
  return "";
}

}  // namespace

std::string batch_note(const Vocabulary& known, const TypedLine& line, const Translation& all) {
  if (!all.sums_up_devices) return "";
  const OurWord* const devices = devices_word(all.words);
  const bool is_on_cpu = devices != nullptr && devices->value == "cpu";
  Words notes;
  if (all.devices > 0)
    notes.push_back(cat("batch.global is of ", all.devices,
                        all.devices == 1 ? " device" : " devices together"));
  else if (!line.file.empty())
    notes.emplace_back("batch.global is of all devices together, times batch.accumulation");
  if (const std::string one = batch_of_one(known, line, all); !one.empty())
    notes.push_back(cat("for a script that used one ", is_on_cpu ? "process" : "GPU",
                        ", batch.global=", one, " and no other batch.* train as it did"));
  return join(notes, "; ");
}

namespace {

// A note on a name that means first weights, in a command that takes a run. "" for other names.
std::string note_of_run(const FlagsHere& flags, const Synonym& synonym, const std::string& value) {
  const std::vector<OurWord> words = written_here(synonym, value, {});
  const auto weights = std::find_if(words.begin(), words.end(),
                                    [](const OurWord& word) { return word.name == first_weights; });
  if (flags.of_run.empty() || weights == words.end()) return "";
  const std::string file = is_placeholder(weights->value) ? "FILE" : shell_word(weights->value);
  const std::string begun = cat("`lockstep train RECIPE init.from=", file, "`");
  if (flags.of_run != "predict" && flags.of_run != "evaluate")
    return cat("a run goes on from its own newest checkpoint; ", begun,
               " begins a new run with these weights");
  constexpr const char* best = "; of a run, --best takes the best checkpoint";
  if (weights->value.ends_with(".safetensors"))
    return cat("an export of a run goes in place of RUN, as `lockstep ", flags.of_run, " ", file,
               "`", best);
  return cat("it needs a run: ", begun,
             " trains one that begins with these weights, and `lockstep ", flags.of_run,
             " RUN` takes it", best);
}

}  // namespace

std::string note_of(const Vocabulary& known, const FlagsHere& flags, const Translation& all,
                    const std::string& key, const std::string& value) {
  const Synonym* const synonym = known.has(key) ? nullptr : find_synonym(known.synonyms, key);
  if (synonym == nullptr) return "";
  if (checkpoint_meant(*synonym, value).empty())
    if (std::string note = note_of_run(flags, *synonym, value); !note.empty()) return note;
  if (!flags.devices.empty() && synonym->ours.find("--devices") != std::string::npos)
    return cat("--devices ", shell_word(flags.devices), " is given");
  if (const auto reason = all.reasons.find(key); reason != all.reasons.end()) return reason->second;
  if (!flags.group.empty()) {  // the other notes concern training
    const MeaningInCommand* const here = meaning_in(*synonym, flags.group);
    return here == nullptr ? "" : here->note;
  }
  if (flags.resumes() && batch_name(known, key) != BatchName::none) return "";
  if (all.shares_batch && batch_name(known, key) == BatchName::per_device)
    return "with nn.DataParallel it is of all devices together, as batch.global is";
  const bool is_left_out =
      std::find(all.left_out.begin(), all.left_out.end(), key) != all.left_out.end();
  return is_left_out && synonym->none_when_off ? "" : note_for_value(*synonym, value);
}

namespace {

// Names without a known meaning. Some names, such as "input" for "predict.input", may be options of
// a following step without its group. These are left out.
Words unknown_names(const Vocabulary& known, const Translation& all) {
  Words names;
  for (const std::string& name : all.unknown) {
    const Words keys = in_its_groups(known, plain_name(name));
    if (!keys.empty())
      names.push_back(cat(name, " (", join(keys, " or "), "?)"));
    else if (keys_in_a_group(known.keys(), name).empty())
      names.push_back(name);
  }
  return names;
}

}  // namespace

Words remarks_of(const Vocabulary& known, const TypedLine& line, const Translation& all,
                 const TypedName& asked) {
  Words remarks;
  Words names = all.left_out, unknown = unknown_names(known, all);
  std::erase(unknown, asked.name);
  if (std::find(all.unknown.begin(), all.unknown.end(), asked.name) != all.unknown.end() &&
      in_its_groups(known, plain_name(asked.name)).empty())
    names.push_back(asked.name);
  if (!names.empty()) remarks.push_back(cat("leave out ", join(names, ", ")));
  remarks.insert(remarks.end(), all.contradictions.begin(), all.contradictions.end());
  remarks.insert(remarks.end(), all.without_effect.begin(), all.without_effect.end());
  for (const auto& [key, reason] : all.reasons)
    if (key != plain_name(asked.name) &&
        std::find(remarks.begin(), remarks.end(), reason) == remarks.end())
      remarks.push_back(reason);
  if (!unknown.empty()) remarks.push_back(cat("not known: ", join(unknown, ", ")));
  remarks.insert(remarks.end(), line.faults.begin(), line.faults.end());
  for (const auto& [key, requirement] : all.must_be)
    remarks.push_back(cat(key, " must be ", requirement));
  return remarks;
}

}  // namespace lockstep::cli
