# Included before project(): what the caller leaves open. LLVM's own compiler, because the
# runtime and compiled programs share its OpenMP library, and ccache, set up to hit across
# checkouts and build folders.

if(NOT CMAKE_C_COMPILER AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CC}
   AND NOT DEFINED ENV{CXX} AND NOT CMAKE_TOOLCHAIN_FILE)
  find_program(CMAKE_C_COMPILER NAMES clang-${PIT_LLVM_VERSION} clang)
  find_program(CMAKE_CXX_COMPILER NAMES clang++-${PIT_LLVM_VERSION} clang++)
  if(NOT CMAKE_C_COMPILER OR NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "no clang-${PIT_LLVM_VERSION} and no clang: pit needs a clang with its "
      "OpenMP library (on Debian: clang-${PIT_LLVM_VERSION} libomp-${PIT_LLVM_VERSION}-dev). "
      "CMAKE_C_COMPILER and CMAKE_CXX_COMPILER name one that lies elsewhere")
  endif()
  find_program(PIT_LLD NAMES ld.lld-${PIT_LLVM_VERSION})
  if(PIT_LLD)
    set(LLVM_USE_LINKER lld CACHE STRING "What HandleLLVMOptions gives to -fuse-ld")
  endif()
endif()

# It knows the precompiled header by its sum, because its bytes hold paths
# (pit_add_precompiled_header).
find_program(PIT_CCACHE ccache)
if(PIT_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${PIT_CCACHE})
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER "${launcher}" CACHE STRING "")
  endforeach()
endif()
