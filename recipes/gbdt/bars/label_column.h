// A column of a file as classes.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

struct LabelColumn {
  const CellTable& table;
  std::size_t column = 0;
  const std::vector<std::size_t>& rows;  // of the table
  std::vector<bool> missing{};           // of each of these rows
};

// The distinct labels: by value if all of them are numbers (1 and 1.0 are one class, "1"), else by
// their bytes. Two classes are 0 and 1 even if only one of them is there. Throws Error, which names
// file and line: a third class if there are two, or so many classes that the labels must be
// numbers.
std::vector<std::string> classes_of(const LabelColumn& column, LabelKind kind);

// Whether the cell names one of them.
bool is_class(const std::string& cell, const std::vector<std::string>& classes);

// The place of each row's label in `classes`; NaN if it is missing. Throws Error, which names
// file and line, for a label that is not among them.
std::vector<double> class_labels(const LabelColumn& column,
                                 const std::vector<std::string>& classes);

}  // namespace lockstep::gbdt
