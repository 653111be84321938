# Each library and its reason: docs/dependencies.md.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
find_path(HNSWLIB_INCLUDE hnswlib/hnswlib.h REQUIRED)  # headers alone, in src/attune/nn/memory/neighbour_graph.cpp
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)  # headers alone: src/attune/base/toml.cpp says why

add_library(attune_dependencies INTERFACE)
target_link_libraries(attune_dependencies INTERFACE
  Threads::Threads fmt::fmt nlohmann_json::nlohmann_json simdjson::simdjson CLI11::CLI11
  ICU::uc ICU::i18n OpenSSL::Crypto PkgConfig::hwy PkgConfig::pcre2)
