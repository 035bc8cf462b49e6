// How a row of a table becomes numbers: learnt from the training rows once, and kept with the run.
#pragma once

#include <lockstep/core/media/csv_table.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

struct Encoding {
  struct Column {
    std::string name;
    double mean = 0, deviation = 1;    // of a column of numbers
    std::vector<std::string> words{};  // of a column of words: one feature each
  };
  std::vector<Column> columns;
  std::string target;                // the column that is predicted
  std::vector<std::string> classes;  // what stands in it, sorted

  std::size_t features() const;
  // [features]: numbers less their mean over their deviation, 1 for the word that stands there, 0
  // for what is missing or unknown. cells: those of `columns`. Throws Error for a word in place of
  // a number.
  std::vector<float> encode(const std::vector<std::string>& cells) const;
  // The cells of a row that belong to `columns`. Throws Error if the table lacks one.
  std::vector<std::string> cells_of(const lockstep::CsvTable& table, std::size_t row) const;
  // Where the class of a row stands in `classes`; -1: it is missing. Throws Error for another word.
  std::int64_t class_of(const lockstep::CsvTable& table, std::size_t row) const;
};

// rows: those that it may look at. without: columns to leave out.
Encoding learn(const lockstep::CsvTable& table, const std::vector<std::size_t>& rows,
               const std::string& target, const std::vector<std::string>& without);

nlohmann::json to_json(const Encoding& encoding);
Encoding encoding_from(const nlohmann::json& json);

bool is_missing(const std::string& cell);  // "", "NA", "?" and the like
