// Settings of the process: each test puts back what it found.
#include "training/step/library_modes.h"

#include <gtest/gtest.h>

#include <ATen/Context.h>

namespace lockstep {
namespace {

struct LibraryModes : ::testing::Test {
  void TearDown() override {
    at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
    at::globalContext().setBenchmarkCuDNN(false);
  }
  TrainOptions options;
};

TEST_F(LibraryModes, ConvolutionsAreTriedOutWhereShapesAreTheSameInEachStep) {
  set_library_modes(options);
  EXPECT_TRUE(at::globalContext().benchmarkCuDNN());
  stop_trying_out_convolutions();
  EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
  options.graph = GraphMode::off;
  set_library_modes(options);
  EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
}

TEST_F(LibraryModes, NothingIsTriedOutWhereBitsMustBeTheSame) {
  at::globalContext().setBenchmarkCuDNN(true);
  options.deterministic = true;
  set_library_modes(options);
  EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  at::globalContext().setBenchmarkCuDNN(true);
  options.deterministic = false;
  options.exact = true;
  set_library_modes(options);
  EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
}

TEST_F(LibraryModes, ProductsAndConvolutionsRoundToTf32Alike) {
  for (const bool wanted : {true, false}) {
    options.matmul.tf32 = wanted;
    set_library_modes(options);
    EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), wanted);
    EXPECT_EQ(at::globalContext().allowTF32CuDNN(), wanted);
  }
}

}  // namespace
}  // namespace lockstep
