# What every target is compiled with. ccache is used when it is there.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(ATTUNE_LIBRARY)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the rooms are the program and the library alike
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# Contraction is off so that a formula has one result whatever the compiler makes of it: fused multiply-adds are written out.
add_compile_options(-Wall -Wextra -Werror -ffp-contract=off -fvisibility=hidden)
# Highway compiles each kernel once for every instruction set. SSSE3 and the sets beyond plain AVX-512 (bits of hwy/detect_targets.h)
# are left out: they add nothing to f32 arithmetic and double the time to build. What remains: SSE2, SSE4, AVX2, AVX-512, NEON.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  add_compile_definitions(HWY_DISABLED_TARGETS=0xFFC0000)  # SVE: the kernels keep arrays of vectors, which need a known size
elseif(ATTUNE_SANITIZE)
  add_compile_definitions(HWY_DISABLED_TARGETS=0x1DF8)  # AVX2 and the plain code are enough to find faults in, and build in half the time
else()
  add_compile_definitions(HWY_DISABLED_TARGETS=0x10F8)
endif()
if(ATTUNE_SANITIZE)
  add_compile_options(-fsanitize=${ATTUNE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ATTUNE_SANITIZE})
  if(ATTUNE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=pointer-overflow)  # triples the kernels' time to compile, for what AddressSanitizer sees, too
    set_source_files_properties(  # the same, once more: a load of every row of every format, unrolled
      ${PROJECT_SOURCE_DIR}/src/attune/kernels/cpu/quantised_kernels.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=alignment,null)
  endif()
endif()
