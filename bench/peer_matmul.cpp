// usage: peer_matmul onednn|openblas [THREADS]... - the cases of `attune bench matmul` with that library, a JSON line
// each; stderr says which of its kernels it runs. Exit status 3: built without it.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "attune/bench/matmul_cases.h"
#include "attune/bench/timing.h"

#ifdef ATTUNE_PEER_DNNL
#include <dnnl.h>
#endif
#ifdef ATTUNE_PEER_OPENBLAS
#include <cblas.h>
extern "C" char* openblas_get_corename();
#endif
#if defined(ATTUNE_PEER_DNNL) || defined(ATTUNE_PEER_OPENBLAS)
#include <omp.h>
#endif

namespace {

using attune::bench::MatmulCase;

struct Product {
  const MatmulCase& one;
  const float *a, *b;
  float* c;
  bool a_transposed() const { return one.kind == MatmulCase::Weight; }
  bool b_transposed() const { return one.kind == MatmulCase::Forward; }
  std::int64_t a_stride() const { return a_transposed() ? one.m : one.k; }
  std::int64_t b_stride() const { return b_transposed() ? one.k : one.n; }
};
using Multiply = void (*)(const Product&);

#ifdef ATTUNE_PEER_DNNL
void onednn(const Product& p) {
  dnnl_sgemm(p.a_transposed() ? 'T' : 'N', p.b_transposed() ? 'T' : 'N', p.one.m, p.one.n, p.one.k, 1.0f, p.a,
             p.a_stride(), p.b, p.b_stride(), 0.0f, p.c, p.one.n);
}
#endif

#ifdef ATTUNE_PEER_OPENBLAS
void openblas(const Product& p) {
  const auto m = static_cast<blasint>(p.one.m), n = static_cast<blasint>(p.one.n), k = static_cast<blasint>(p.one.k);
  const auto a_stride = static_cast<blasint>(p.a_stride()), b_stride = static_cast<blasint>(p.b_stride());
  if (m == 1 && p.b_transposed()) {  // its own way to multiply by one row, which is much faster
    cblas_sgemv(CblasRowMajor, CblasNoTrans, n, k, 1.0f, p.b, b_stride, p.a, 1, 0.0f, p.c, 1);
    return;
  }
  cblas_sgemm(CblasRowMajor, p.a_transposed() ? CblasTrans : CblasNoTrans, p.b_transposed() ? CblasTrans : CblasNoTrans,
              m, n, k, 1.0f, p.a, a_stride, p.b, b_stride, 0.0f, p.c, n);
}
#endif

/// The library of that name, or null where this program was built without it. Says on stderr what it runs on.
Multiply library(const std::string& name) {
#ifdef ATTUNE_PEER_DNNL
  if (name == "onednn") {
    const dnnl_version_t* version = dnnl_version();
    std::fprintf(stderr, "oneDNN %d.%d.%d, instruction set 0x%x\n", version->major, version->minor, version->patch,
                 static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
    return onednn;
  }
#endif
#ifdef ATTUNE_PEER_OPENBLAS
  if (name == "openblas") {
    std::fprintf(stderr, "%s, kernels for %s\n", OPENBLAS_VERSION, openblas_get_corename());
    return openblas;
  }
#endif
  (void)name;
  return nullptr;
}

std::vector<float> values(std::int64_t count) {
  std::vector<float> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * 2654435761u % 2001) * 1e-3f - 1.0f;
  return v;
}

void set_threads([[maybe_unused]] int threads) {
#if defined(ATTUNE_PEER_DNNL) || defined(ATTUNE_PEER_OPENBLAS)
  omp_set_num_threads(threads);
#endif
#ifdef ATTUNE_PEER_OPENBLAS
  openblas_set_num_threads(threads);
#endif
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: peer_matmul onednn|openblas THREADS...\n");
    return 2;
  }
  const Multiply multiply = library(arguments[1]);
  if (!multiply) return 3;
  for (int i = 2; i < count; ++i) {
    const int threads = std::atoi(arguments[i]);
    set_threads(threads);
    for (const MatmulCase& one : attune::bench::matmul_cases) {
      const std::vector<float> a = values(one.m * one.k), b = values(one.n * one.k);
      std::vector<float> c(static_cast<std::size_t>(one.m * one.n));
      const Product product{one, a.data(), b.data(), c.data()};
      const double seconds = attune::bench::median_seconds([&] { multiply(product); });
      std::printf("{\"case\": \"%s\", \"threads\": %d, \"value\": %.17g}\n", one.name, threads,
                  2e-9 * static_cast<double>(one.m * one.n * one.k) / seconds);
      std::fflush(stdout);
    }
  }
}
