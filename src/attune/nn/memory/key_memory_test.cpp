#include "attune/nn/memory/key_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/base/threads.h"
#include "attune/checkpoint/safetensors.h"
#include "attune/conformance/conformance.h"
#include "attune/nn/memory/content_hash.h"

namespace attune {
namespace {

using conformance::random_tensor;
using conformance::same_bits;

Path temporary(const std::string& name) {
  const Path directory = std::filesystem::temp_directory_path() / ("key_memory_test." + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  return directory / name;
}

std::vector<std::int64_t> nearest(const KeyMemory& memory, const Tensor& q, std::int64_t head, std::int64_t count) {
  std::vector<std::int64_t> best(static_cast<std::size_t>(q.dim(0) * count));
  memory.nearest(kernels::Matrix<float>(q.data<float>(), q.dim(0), q.dim(1), q.dim(1), 1), head, count, best.data());
  return best;
}

/// The same by id: what a memory answers, wherever its entries lie.
std::vector<std::int64_t> found_ids(const KeyMemory& memory, const Tensor& q, std::int64_t head, std::int64_t count) {
  std::vector<std::int64_t> best = nearest(memory, q, head, count);
  for (std::int64_t& slot : best) slot = slot < 0 ? -1 : memory.id_at(slot);
  return best;
}

/// Exact below, a graph above.
KeyMemory filled(std::int64_t entries, std::int64_t exact_up_to, std::int64_t heads = 2, std::int64_t width = 16) {
  KeyMemory memory({.kv_heads = heads, .head_dim = width}, {.exact_up_to = exact_up_to});
  for (std::int64_t begin = 0; begin < entries; begin += 100) {
    const std::int64_t n = std::min<std::int64_t>(100, entries - begin);
    memory.add(random_tensor({n, heads, width}, 10 + static_cast<std::uint64_t>(begin)),
               random_tensor({n, heads, width}, 5000 + static_cast<std::uint64_t>(begin)), begin / 100);
  }
  return memory;
}

TEST(NeighbourGraph, FindsNinetyFiveInAHundredOfTheTrueNeighboursOfRandomVectors) {
  const std::int64_t entries = 3000, count = 32;
  KeyMemory exact = filled(entries, entries, 1, 64), approximate = filled(entries, 0, 1, 64);
  ASSERT_TRUE(exact.is_exact());
  ASSERT_FALSE(approximate.is_exact());
  const Tensor q = random_tensor({200, 64}, 2);
  const auto truth = nearest(exact, q, 0, count), found = nearest(approximate, q, 0, count);
  std::int64_t hits = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const auto begin = truth.begin() + i * count;
    for (std::int64_t n = 0; n < count; ++n)
      hits += std::count(begin, begin + count, found[static_cast<std::size_t>(i * count + n)]);
  }
  EXPECT_GE(static_cast<double>(hits) / (200.0 * count), 0.95);
}

TEST(KeyMemory, RemovedEntryIsNotFoundAndItsValuesAreGone) {
  for (std::int64_t exact_up_to : {1000, 50}) {
    KeyMemory memory = filled(300, exact_up_to);
    EXPECT_EQ(memory.is_exact(), exact_up_to == 1000);
    const Tensor q = random_tensor({1, 16}, 3);
    const std::vector<KeyMemory::Id> best = {found_ids(memory, q, 1, 1)};
    memory.remove(best);
    EXPECT_FALSE(memory.contains(best[0]));
    EXPECT_EQ(memory.size(), 299);
    const auto left = found_ids(memory, q, 1, 299);
    EXPECT_EQ(std::count(left.begin(), left.end(), best[0]), 0);
    EXPECT_THROW(memory.remove(best), Error);
    EXPECT_EQ(memory.remove_document(2), best[0] >= 200 ? 99 : 100);
    for (KeyMemory::Id id : memory.ids()) EXPECT_NE(memory.document_of(id), 2);
  }
}

TEST(KeyMemory, ReplacedEntryIsFoundByItsNewKeyUnderItsOldId) {
  for (std::int64_t exact_up_to : {1000, 50}) {
    KeyMemory memory = filled(300, exact_up_to);
    const Tensor q = random_tensor({1, 16}, 3);
    Tensor k = Tensor::zeros({1, 2, 16});
    for (std::int64_t c = 0; c < 16; ++c) k.mutable_data<float>()[16 + c] = 5 * q.data<float>()[c];
    memory.replace(17, k, Tensor::full({1, 2, 16}, 4));
    EXPECT_EQ(found_ids(memory, q, 1, 1)[0], 17);
    EXPECT_EQ(memory.values().rows(nearest(memory, q, 1, 1)[0], 300).data<float>()[16], 4);
    EXPECT_EQ(memory.size(), 300);
    EXPECT_THROW(memory.replace(300, k, k), Error);
  }
}

TEST(KeyMemory, AfterManyEditsExactSearchAnswersAsAMemoryOfWhatIsLeft) {
  KeyMemory memory = filled(400, 1000);
  RandomStream random(RandomKey{1, 2, 3});
  for (int i = 0; i < 250; ++i) {
    const auto ids = memory.ids();
    memory.remove(
        std::vector<KeyMemory::Id>{ids[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(ids.size())))]});
    if (i % 5 == 0)
      memory.add(random_tensor({1, 2, 16}, 900 + static_cast<std::uint64_t>(i)), random_tensor({1, 2, 16}, 901), 7);
  }
  KeyMemory fresh({.kv_heads = 2, .head_dim = 16});
  fresh.add(memory.keys(), memory.values());
  const Tensor q = random_tensor({9, 16}, 3);
  EXPECT_EQ(memory.size(), 200);
  EXPECT_EQ(nearest(memory, q, 0, 20), nearest(fresh, q, 0, 20));
}

TEST(KeyMemory, GraphSurvivesRemovalOfAlmostAllAndFallsBackToExact) {
  KeyMemory memory = filled(300, 50);
  std::vector<KeyMemory::Id> gone = memory.ids();
  gone.resize(290);
  std::vector<KeyMemory::Id> first(gone.begin(), gone.begin() + 200), second(gone.begin() + 200, gone.end());
  memory.remove(first);
  EXPECT_FALSE(memory.is_exact());
  EXPECT_EQ(found_ids(memory, random_tensor({1, 16}), 0, 100).back() >= 0, true);
  memory.remove(second);
  EXPECT_TRUE(memory.is_exact());
  EXPECT_EQ(memory.size(), 10);
  memory.remove(memory.ids());
  EXPECT_EQ(found_ids(memory, random_tensor({1, 16}), 0, 3), (std::vector<std::int64_t>{-1, -1, -1}));
}

TEST(KeyMemory, OpenedFileAnswersBitForBitAndGoesOnTheSame) {
  for (std::int64_t exact_up_to : {1000, 50}) {
    KeyMemory memory = filled(400, exact_up_to);
    memory.origin = "a model's third layer";
    memory.names = {{1, "größer"}, {2, ""}, {-3, "before"}};
    memory.remove(std::vector<KeyMemory::Id>{3, 250});
    memory.replace(9, random_tensor({1, 2, 16}, 77), random_tensor({1, 2, 16}, 78));
    const Path path = temporary("memory.safetensors");
    memory.save(path);
    KeyMemory again = KeyMemory::open(path);
    EXPECT_EQ(again.origin, memory.origin);
    EXPECT_EQ(again.names, memory.names);
    const Tensor q = random_tensor({9, 16}, 3);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(again.ids(), memory.ids());
      EXPECT_TRUE(same_bits(again.values(), memory.values()));
      for (std::int64_t head : {0, 1}) EXPECT_EQ(nearest(again, q, head, 30), nearest(memory, q, head, 30));
      for (KeyMemory* m : {&again, &memory}) {
        EXPECT_EQ(m->add(random_tensor({80, 2, 16}, 5), random_tensor({80, 2, 16}, 6)), 400 + 80 * round);
        m->remove(std::vector<KeyMemory::Id>{20 + round});
      }
    }
  }
}

TEST(KeyMemory, FileHoldsNothingOfWhatWasRemoved) {
  for (std::int64_t exact_up_to : {1000, 50}) {
    KeyMemory memory = filled(300, exact_up_to);
    const float secret = 123.456f;
    const KeyMemory::Id id = memory.add(Tensor::full({1, 2, 16}, secret), Tensor::full({1, 2, 16}, secret));
    const Path path = temporary("removed.safetensors");
    const std::string bytes(reinterpret_cast<const char*>(&secret), sizeof secret);
    memory.save(path);
    EXPECT_NE(read_file(path).find(bytes), std::string::npos);
    memory.remove(std::vector<KeyMemory::Id>{id});
    memory.save(path);
    EXPECT_EQ(read_file(path).find(bytes), std::string::npos);
  }
}

TEST(KeyMemory, AnswersDoNotDependOnThreadsOrOnTheOtherQueries) {
  const KeyMemory memory = filled(600, 100);
  const Tensor q = random_tensor({20, 16}, 3);
  const auto all = nearest(memory, q, 1, 7);
  const int threads = num_threads();
  for (int n : {1, 3}) {
    set_num_threads(n);
    EXPECT_EQ(nearest(filled(600, 100), q, 1, 7), all);
  }
  set_num_threads(threads);
  for (std::int64_t i = 0; i < 20; ++i)
    EXPECT_TRUE(std::ranges::equal(nearest(memory, q.rows(i, i + 1).contiguous(), 1, 7),
                                   std::span(all).subspan(static_cast<std::size_t>(i * 7), 7)));
}

TEST(KeyMemory, WhatDoesNotFitIsRefused) {
  KeyMemory memory = filled(10, 100);
  EXPECT_THROW(memory.add(random_tensor({1, 2, 15}), random_tensor({1, 2, 16})), Error);
  EXPECT_THROW(memory.add(random_tensor({1, 2, 16}), random_tensor({2, 2, 16})), Error);
  EXPECT_THROW(memory.add(Tensor::full({1, 2, 16}, std::numeric_limits<double>::infinity()), random_tensor({1, 2, 16})),
               Error);
  EXPECT_THROW(nearest(memory, random_tensor({1, 15}), 0, 1), Error);
  EXPECT_THROW(KeyMemory({.kv_heads = 0}), Error);
  EXPECT_EQ(nearest(memory, Tensor::full({1, 16}, std::nan("")), 0, 2), (std::vector<std::int64_t>{0, 1}));
}

/// The file of a small memory with a graph, changed by `change` before it is written again.
void expect_refused(const std::function<void(std::vector<NamedTensor>&, Metadata&)>& change, const char* what) {
  const Path path = temporary("hostile.safetensors");
  filled(60, 20).save(path);
  std::vector<NamedTensor> tensors;
  Metadata metadata;
  {
    const SafetensorsFile file = SafetensorsFile::open(path);
    for (const TensorInfo& info : file.tensors()) tensors.push_back({info.name, file.tensor(info.name).clone()});
    metadata = file.metadata();
  }
  change(tensors, metadata);
  metadata[content_hash_key] = content_hash(tensors, metadata);  // whoever made the file can compute it
  write_safetensors(path, tensors, metadata);
  EXPECT_THROW(KeyMemory::open(path), Error) << what;
}

TEST(KeyMemory, HostileFilesAreRefused) {
  auto named = [](std::vector<NamedTensor>& all, const std::string& name) -> Tensor& {
    return std::ranges::find(all, name, &NamedTensor::name)->tensor;
  };
  using All = std::vector<NamedTensor>&;
  expect_refused([&](All t, Metadata&) { named(t, "graph.0.links").mutable_data<std::int32_t>()[1] = 60; }, "a link");
  expect_refused([&](All t, Metadata&) { named(t, "graph.0.links").mutable_data<std::int32_t>()[1] = -1; }, "a link");
  expect_refused([&](All t, Metadata&) { named(t, "graph.1.links").mutable_data<std::int32_t>()[0] = 1000; },
                 "a count");
  expect_refused([&](All t, Metadata&) { named(t, "graph.0.levels").mutable_data<std::int32_t>()[5] += 1; }, "a level");
  expect_refused([&](All t, Metadata&) { named(t, "graph.0.levels").mutable_data<std::int32_t>()[5] = 1 << 30; },
                 "a level");
  expect_refused([&](All t, Metadata&) { named(t, "graph.0.links") = Tensor::zeros({0}, DType::I32); }, "no links");
  expect_refused(
      [&](All t, Metadata&) { named(t, "keys").mutable_data<float>()[7] = std::numeric_limits<float>::quiet_NaN(); },
      "a NaN");
  expect_refused([&](All t, Metadata&) { named(t, "ids").mutable_data<std::int64_t>()[7] = 3; }, "ids that fall");
  expect_refused([&](All t, Metadata&) { named(t, "ids") = Tensor::zeros({59}, DType::I64); }, "too few ids");
  expect_refused([&](All t, Metadata&) { named(t, "values") = Tensor::zeros({60, 2, 0}); }, "no values");
  expect_refused([&](All t, Metadata&) { named(t, "keys") = named(t, "keys").to(DType::F64); }, "another type");
  expect_refused([&](All t, Metadata&) { t.push_back({"more", Tensor::zeros({1})}); }, "one tensor more");
  expect_refused([&](All t, Metadata&) { t.pop_back(); }, "one tensor less");
  expect_refused([&](All, Metadata& m) { m["next_id"] = "59"; }, "the next id");
  expect_refused([&](All, Metadata& m) { m["next_id"] = "6e1"; }, "no number");
  expect_refused([&](All, Metadata& m) { m["graph.1.entry"] = "60"; }, "the entry");
  expect_refused([&](All, Metadata& m) { m["links"] = "100000"; }, "the links");
  expect_refused([&](All, Metadata& m) { m["search_breadth"] = "9223372036854775807"; }, "the breadth");
  expect_refused([&](All, Metadata& m) { m["format"] = "pt"; }, "the format");
  expect_refused([&](All, Metadata& m) { m.erase("exact_up_to"); }, "a missing number");
  const Path path = temporary("hostile.safetensors");
  std::ofstream(path) << "no memory";
  EXPECT_THROW(KeyMemory::open(path), Error);
  std::filesystem::remove_all(path.parent_path());
}

TEST(KeyMemory, FileWithAnyByteChangedIsRefused) {
  const Path path = temporary("flipped.safetensors");
  filled(60, 20).save(path);
  const std::string whole = read_file(path);
  RandomStream random(RandomKey{5, 5, 5});
  for (int i = 0; i < 150; ++i) {
    std::string bytes = whole;
    // Half of them in the header and the small tensors that follow it.
    const auto size = static_cast<std::int64_t>(i % 2 == 0 ? bytes.size() : 3000);
    char& changed = bytes[static_cast<std::size_t>(random.below(size))];
    changed = static_cast<char>(changed ^ (1 + random.below(255)));
    if (i % 10 == 0) bytes.resize(static_cast<std::size_t>(random.below(size)));
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_THROW(KeyMemory::open(path), Error) << i;
  }
  std::filesystem::remove_all(path.parent_path());
}

TEST(KeyMemory, FileWithAnotherValueSaysThatItsContentWasChanged) {
  const Path path = temporary("altered.safetensors");
  filled(60, 100).save(path);
  std::string bytes = read_file(path);
  bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);  // a finite value, another one
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    KeyMemory::open(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("SHA-256"), std::string::npos) << error.what();
  }
  std::filesystem::remove_all(path.parent_path());
}

TEST(KeyMemory, EmptyOneIsSavedAndOpened) {
  const Path path = temporary("empty.safetensors");
  KeyMemory({.kv_heads = 2, .head_dim = 16}).save(path);
  KeyMemory memory = KeyMemory::open(path);
  EXPECT_EQ(memory.size(), 0);
  EXPECT_EQ(memory.add(random_tensor({1, 2, 16}), random_tensor({1, 2, 16})), 0);
  EXPECT_EQ(nearest(memory, random_tensor({1, 16}), 1, 2), (std::vector<std::int64_t>{0, -1}));
  std::filesystem::remove_all(path.parent_path());
}

}  // namespace
}  // namespace attune
