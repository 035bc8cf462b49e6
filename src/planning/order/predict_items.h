// The items for which `lockstep predict` makes outputs. The tool lists them before a worker starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct PredictItem {
  std::int64_t index = 0;  // its index in input order, from 0
  std::string name;        // printed name: "scans/7.tif", "line 3 of reviews.jsonl"
  // A name that does not depend on the working directory: "7.tif" for a file, "sub/7.tif" for a
  // file in a folder, the number from 1 for a line. If two inputs would get the same name, files
  // get their path below the folder that all inputs share. If there are several sources of lines,
  // the source comes first: "reviews.txt:3".
  std::string id;
  std::string path;  // the absolute path of the file to read; empty for lines and words
  std::vector<std::string> further{};  // absolute paths of files that are read with it
  std::string text;                    // the line without its end, or the word
  std::string output;  // the name of its output file, below the output folder; empty: no file
  std::string fault;   // why it is skipped, if this is known already
  // The largest number of devices that can share the item (Recipe::predict_piece). Devices share an
  // item only if fewer items than devices are left, and if PredictInput::batch is 1.
  std::int64_t pieces = 1;
};

// The INPUT that `lockstep predict RUN INPUT …` takes for a recipe.
struct PredictInput {
  enum class Kind {
    text,   // one text, for an option of the recipe: outputs are streamed (Recipe::predict)
    files,  // each file is an item: files, folders, globs; - reads paths from standard input
    lines,  // each line of the files that is not blank is an item; - is standard input
    words,  // each word is an item, such as the id of a row; - reads words from standard input
  };
  Kind kind = Kind::text;
  // Kind::text: the option that INPUT sets. If empty, the recipe takes no INPUT.
  std::string option{};
  // Kind::text: other options that name inputs. If one of them is set, no text is read from a pipe.
  std::vector<std::string> other_options{};
  // Kind::files: the suffixes of files that are items in a folder, such as ".png". Case is ignored.
  // If empty, all files are items.
  std::vector<std::string> suffixes{};
  // The suffix of output files, such as ".png". The output of an item is named PredictItem::id,
  // with this suffix in place of the input's own. If empty, items have no output files.
  std::string output_suffix{};
  // Names of outputs that combine all items, such as "predictions.csv". They are protected from
  // being overwritten.
  std::vector<std::string> joint_outputs{};
  // If there is no INPUT, the recipe finds its items itself (RecipeOptions::items).
  bool finds_items = false;
  // Outputs can be averaged over several runs of the recipe (predict.also). Recipe::predict_items
  // then uses ItemContext::also.
  bool averages = false;
  // The number of consecutive items that Recipe::predict_items gets at once. It does not depend on
  // the number of devices, so outputs do not either.
  std::int64_t batch = 1;

  bool has_items() const { return kind != Kind::text; }
};

// The inputs from which items are listed.
struct ItemQuery {
  std::vector<std::string> inputs;  // as the user typed them, or from predict.input
  // a file with the content of standard input; empty if no input is "-"
  std::filesystem::path standard_input;
  // See PrepareContext::run_dir. Empty if `--then predict` lists items before a run exists.
  std::filesystem::path run_dir;
  // see PrepareContext::cache_dir; empty in the same case as run_dir
  std::filesystem::path cache_dir;
};

// Lists the items in the order of the inputs; those of a folder are sorted by path. A file or word
// that occurs twice becomes one item. Hidden files are left out of folders. An input that cannot be
// predicted becomes an item with a fault:
// - a missing file; the message suggests the nearest name
// - a glob or a folder without suitable files
// - a folder that cannot be listed
// - an output name that is not valid or that another item has
//
// Throws Error if every item has a fault, or if an input is an empty text.
std::vector<PredictItem> list_items(const PredictInput& input, const ItemQuery& query);

// Why this name is not allowed for an output; empty if it is allowed. A valid name is a relative
// path in its shortest form. So "../a", "./a" and "a//b" are not valid.
std::string fault_of_output_name(const std::string& name);

// The format is CBOR, because file names may be any bytes and JSON text may not.
std::string to_cbor(const std::vector<PredictItem>& items);
// throws Error if `bytes` is damaged
std::vector<PredictItem> items_from_cbor(const std::string& bytes);

nlohmann::json to_json(const PredictInput& input);
PredictInput predict_input_from_json(const nlohmann::json& json);

}  // namespace lockstep
