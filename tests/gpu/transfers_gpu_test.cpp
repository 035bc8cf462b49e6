#include "backends/layout.h"
#include "gpu/gpu_fixture.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <thread>
#include <vector>

namespace lockstep {
namespace {

using Transfers = GpuTest;

TEST_F(Transfers, HostMemoryIsPinned) {
  const at::Tensor host = gpu().host_empty({3, 5}, at::kLong);
  EXPECT_TRUE(host.is_cpu());
  EXPECT_TRUE(host.is_pinned());
  EXPECT_EQ(host.sizes(), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(host.scalar_type(), at::kLong);
}

TEST_F(Transfers, WhatGoesUpComesDown) {
  const std::vector<at::Tensor> host = {at::arange(1000), at::arange(12).view({3, 4}).t(),
                                        at::full({}, 2.5), at::arange(0)};
  auto upload = gpu().upload(host);
  const std::vector<at::Tensor> device = upload->take();
  ASSERT_EQ(device.size(), host.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    EXPECT_TRUE(device[i].is_cuda());
    const at::Tensor back = gpu().download(device[i])->get();
    EXPECT_TRUE(back.is_cpu());
    EXPECT_TRUE(back.equal(host[i])) << i;
  }
}

TEST_F(Transfers, KeepTheLayoutOfDenseTensors) {
  const at::Tensor image = at::arange(120).view({2, 3, 4, 5});
  const at::Tensor last = image.contiguous(at::MemoryFormat::ChannelsLast);
  const std::vector<at::Tensor> device = gpu().upload({last, image.narrow(3, 0, 2)})->take();
  EXPECT_EQ(device[0].strides(), last.strides());
  EXPECT_TRUE(device[1].is_contiguous());
  const at::Tensor back = gpu().download(device[0])->get();
  EXPECT_EQ(back.strides(), last.strides());
  EXPECT_TRUE(back.is_pinned());
  EXPECT_TRUE(back.equal(image));
  const at::Tensor pinned = pinned_copy(gpu(), last);
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_EQ(pinned.strides(), last.strides());
  EXPECT_TRUE(pinned.equal(image));
}

// The source is overwritten as soon as the upload is gone, many times over: a copy that started too
// late, or memory given away too early, shows as a wrong number.
TEST_F(Transfers, EveryUploadArrivesWhole) {
  std::vector<at::Tensor> sums;
  const at::Tensor source = gpu().host_empty({1 << 18}, at::kLong);
  for (std::int64_t i = 0; i < 50; ++i) {
    source.fill_(i);
    auto upload = gpu().upload({source});
    at::Tensor copy = upload->take().at(0);
    upload.reset();
    sums.push_back(copy.sum());
  }
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(sums[i].item<std::int64_t>(), i << 18);
}

TEST_F(Transfers, UploadsFromAnotherThread) {
  std::unique_ptr<Upload> upload;
  std::thread loader([&] { upload = gpu().upload({at::arange(5000)}); });
  loader.join();
  EXPECT_EQ(upload->take().at(0).sum().item<std::int64_t>(), 4999 * 5000 / 2);
}

TEST_F(Transfers, ADownloadHoldsTheValueOfItsMoment) {
  at::Tensor device = at::ones({1 << 20}, at::TensorOptions().device(gpu().device()));
  auto download = gpu().download(device);
  device.fill_(7);
  const at::Tensor host = download->get();
  EXPECT_TRUE(download->ready());
  EXPECT_TRUE(host.eq(1).all().item<bool>());
}

// As the thread does that writes a checkpoint while a step is recorded.
TEST_F(Transfers, ADownloadMayGoInAnotherThreadWhileAGraphIsCaptured) {
  const at::Tensor x = at::ones({1 << 16}, at::TensorOptions().device(gpu().device()));
  auto read = gpu().download(x), unread = gpu().download(x);
  at::Tensor host = read->get(), sum;
  const auto graph = gpu().capture([&] {
    std::thread([&] {
      host.reset();
      read.reset();
      unread.reset();
    }).join();
    sum = x + x;
  });
  graph->replay();
  EXPECT_TRUE(sum.eq(2).all().item<bool>());
}

TEST_F(Transfers, StampsMeasureTheWorkBetweenThem) {
  const auto options = at::TensorOptions().device(gpu().device());
  const at::Tensor a = at::ones({2048, 2048}, options);
  const at::Tensor stamps = at::zeros({3}, options.dtype(at::kDouble));
  at::mm(a, a);
  gpu().stamp(stamps[0]);
  for (int i = 0; i < 20; ++i) at::mm(a, a);
  gpu().stamp(stamps[1]);
  for (int i = 0; i < 200; ++i) at::mm(a, a);
  gpu().stamp(stamps[2]);
  const at::Tensor host = stamps.cpu();
  const double* at = host.const_data_ptr<double>();
  EXPECT_GT(at[1] - at[0], 0);
  EXPECT_GT(at[2] - at[1], at[1] - at[0]);
  EXPECT_LT(at[2] - at[0], 10);
}

}  // namespace
}  // namespace lockstep
