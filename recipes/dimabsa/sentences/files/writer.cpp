// Writes predictions.
#include "recipes/dimabsa/sentences/files/writer.h"

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files/files.h"
#include "core/media/zip_writer.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/scores/tuple_key.h"
#include "recipes/dimabsa/sentences/scores/tuple_lists.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {

std::vector<Tuple> without_duplicates(Task task, const std::vector<Tuple>& tuples) {
  std::vector<Tuple> kept;
  std::set<TupleKey> seen;
  for (const Tuple& tuple : tuples)
    if (seen.insert(key_of(task, tuple)).second) kept.push_back(tuple);
  return kept;
}

std::string prediction_line(Task task, const Sentence& sentence) {
  constexpr ValenceArousal middle{5, 5};
  auto list = nlohmann::ordered_json::array();
  for (const Tuple& tuple : without_duplicates(task, sentence.tuples)) {
    nlohmann::ordered_json item{{"Aspect", tuple.aspect}};
    if (task != Task::aspects) item["Opinion"] = tuple.opinion;
    if (task == Task::quadruplets) item["Category"] = tuple.category;
    item["VA"] = format_va(tuple.va.value_or(middle));
    list.push_back(std::move(item));
  }
  const nlohmann::ordered_json line{{"ID", sentence.id}, {output_key(task), std::move(list)}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string prediction_lines(Task task, const std::vector<Sentence>& sentences) {
  std::string lines;
  for (const Sentence& sentence : sentences) lines += prediction_line(task, sentence) + "\n";
  return lines;
}

std::filesystem::path write_predictions(const std::filesystem::path& folder, Task task,
                                        const std::string& language, const std::string& domain,
                                        const std::vector<Sentence>& sentences) {
  const std::filesystem::path path = folder / prediction_name(task, language, domain);
  make_directories(path.parent_path());
  write_file_atomic(path, prediction_lines(task, sentences));
  return path;
}

void write_submission(const std::filesystem::path& zip,
                      const std::vector<std::pair<std::string, std::filesystem::path>>& files) {
  ZipWriter writer(zip);
  for (const auto& [name, file] : files) writer.add_file(name, file);
  writer.finish();
}

}  // namespace lockstep::dimabsa
