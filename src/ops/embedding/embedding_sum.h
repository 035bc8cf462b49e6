// Rows of several tables added up: words, positions and segments of texts of any lengths.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace lockstep {

struct Lookup {
  at::Tensor rows;   // i64 [N], each from 0 to V - 1
  at::Tensor table;  // [V, D]
};

// The sum over `lookups`, one to three of them, of table[rows]: [N, D], added up in the given
// order. Tables are of one dtype and width. Rows that are in no table are an Error on the CPU, a
// device-side assertion on GPUs. Differentiable in the tables, twice by way of ATen; where a table
// has a gradient buffer, its gradient goes there, row by row: nothing of the size of the table is
// made. On GPUs rows are then added up in no fixed order, unless ATen was told to be deterministic.
at::Tensor embedding_sum(const std::vector<Lookup>& lookups);

}  // namespace lockstep
