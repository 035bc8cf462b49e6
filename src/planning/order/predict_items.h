// The items that `lockstep predict` makes outputs of. They are listed before a worker starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct PredictItem {
  std::int64_t index = 0;  // its place in input order, from 0
  std::string name;        // for people: "scans/7.tif", "line 3 of reviews.jsonl"
  // A name that is the same wherever predict is called: "7.tif" for a file, "sub/7.tif" for one in
  // a folder, its number from 1 for a line. If two files would have the same, it is the path below
  // the folder that all of them share. Lines of several files have "reviews.txt:3".
  std::string id;
  std::string path;                    // the file to read, absolute; empty if the item is no file
  std::vector<std::string> further{};  // files that are read with it, absolute
  std::string text;                    // the line without its end, or the word
  std::string output;  // name of the file for its bytes, below the folder of outputs; empty: none
  std::string fault;   // why it is skipped, if that is known already
  // The most devices that can share the item, if there are fewer items left than devices
  // (Recipe::predict_piece). Only with PredictInput::batch 1.
  std::int64_t pieces = 1;
};

// The INPUT that `lockstep predict RUN INPUT …` takes for a recipe.
struct PredictInput {
  enum class Kind {
    text,   // one text, for an option of the recipe: outputs are streamed (Recipe::predict)
    files,  // each file is an item: files, folders, globs; - is a list of files, one a line
    lines,  // each line of the files is an item, blank ones aside; - is standard input
    words,  // each word is an item, such as a row's id; - is a list of them, one a line
  };
  Kind kind = Kind::text;
  // Kind::text: the option that INPUT sets; empty: the recipe takes no INPUT.
  std::string option{};
  // Kind::text: other options that name inputs; if one of them is set, no pipe is read.
  std::vector<std::string> other_options{};
  // Kind::files: the endings of files that count in a folder, such as ".png"; case is ignored.
  // Empty: all files count.
  std::vector<std::string> suffixes{};
  // The suffix of the file that each item has for itself, ID.SUFFIX, in place of the input's
  // suffix: ".png". Empty: items have no files.
  std::string output_suffix{};
  // Outputs made of all items, such as "predictions.csv", so that they are not overwritten.
  std::vector<std::string> joint_outputs{};
  // Without INPUT the recipe finds its items by itself (RecipeOptions::items).
  bool finds_items = false;
  // Outputs may be made of several runs of the recipe (predict.also): Recipe::predict_items then
  // uses ItemContext::also.
  bool averages = false;
  // The number of consecutive items that Recipe::predict_items gets at once. It is the same on any
  // number of devices, and so are the outputs.
  std::int64_t batch = 1;

  bool has_items() const { return kind != Kind::text; }
};

// The inputs that items are listed from.
struct ItemQuery {
  std::vector<std::string> inputs;       // as the user typed them, or from predict.input
  std::filesystem::path standard_input;  // a file with the content of "-"; empty: no input is "-"
  // As PrepareContext::run_dir; empty if `--then predict` asks before there is a run.
  std::filesystem::path run_dir;
  std::filesystem::path cache_dir;  // as PrepareContext::cache_dir; empty in the same case
};

// The items in the order of the inputs, those of a folder by path. A file or a word that comes
// twice counts once. An input that cannot be predicted is an item with a fault: a missing file (the
// nearest is named), a glob or a folder without such files, a folder that cannot be listed, an
// output name that another item has or that is not valid. Throws Error if there is nothing else.
std::vector<PredictItem> list_items(const PredictInput& input, const ItemQuery& query);

// Why an output may not have this name; "": it may. A valid name lies below the folder of outputs,
// and has no second spelling such as "./a" or "a//b".
std::string fault_of_output_name(const std::string& name);

// CBOR, because file names may be any bytes, and JSON text may not.
std::string to_cbor(const std::vector<PredictItem>& items);
std::vector<PredictItem> items_from_cbor(const std::string& bytes);  // throws Error

nlohmann::json to_json(const PredictInput& input);
PredictInput predict_input_from_json(const nlohmann::json& json);

}  // namespace lockstep
