#pragma once

#include <cstdint>

/// The shapes that `attune bench matmul` and bench/peer_matmul run: nothing else is in this header, so that the peer
/// needs only it.
namespace attune::bench {

struct MatmulCase {
  const char* name;
  std::int64_t m, n, k;
  enum Kind {
    Forward,  // Y [m, n] = X [m, k] W^T, W [n, k]: packed once, used often
    Input,    // dX [m, n] = dY [m, k] W, W [k, n]: packed once
    Weight    // dW [m, n] = dY^T X, dY [k, m], X [k, n]: neither is used again
  } kind;
};

inline constexpr MatmulCase matmul_cases[] = {
    {"512x512x512", 512, 512, 512, MatmulCase::Forward},
    {"2048x768x768", 2048, 768, 768, MatmulCase::Forward},
    {"2048x3072x768", 2048, 3072, 768, MatmulCase::Forward},
    {"128x768x768", 128, 768, 768, MatmulCase::Forward},
    {"16x768x768", 16, 768, 768, MatmulCase::Forward},
    {"4x768x3072", 4, 768, 3072, MatmulCase::Forward},
    {"1x768x3072", 1, 768, 3072, MatmulCase::Forward},
    {"4096x64x64", 4096, 64, 64, MatmulCase::Forward},
    {"512x8192x384 (vocabulary)", 512, 8192, 384, MatmulCase::Forward},
    {"4096x384x1536 (dX)", 4096, 384, 1536, MatmulCase::Input},
    {"384x1536x4096 (dW)", 384, 1536, 4096, MatmulCase::Weight},
};

}  // namespace attune::bench
