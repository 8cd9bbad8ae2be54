# The wheel of the Python package (pyproject.toml): its files beside the modules of python/pit, as
# `cmake --install BUILD --component wheel` lays them. The libraries that are linked and not on
# every Linux come along: LLVM's OpenMP library and zstd.

if(NOT TARGET pit_call)
  if(SKBUILD)
    message(FATAL_ERROR "The wheel needs the headers of Python (on Debian: python3-dev)")
  endif()
  return()
endif()
set(PIT_WHEEL_TARGETS pit_runtime pit_call pit_jax)
set(PIT_WHEEL_LIBRARIES ${OpenMP_omp_LIBRARY})
if(TARGET PITCompiler)
  list(APPEND PIT_WHEEL_TARGETS PITCompiler)
  find_library(PIT_ZSTD_LIBRARY zstd)
  list(APPEND PIT_WHEEL_LIBRARIES ${PIT_ZSTD_LIBRARY})
endif()

add_custom_target(pit-wheel DEPENDS ${PIT_WHEEL_TARGETS})
install(TARGETS ${PIT_WHEEL_TARGETS}
  LIBRARY DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL)
foreach(library ${PIT_WHEEL_LIBRARIES})
  # Under the name by which it is looked for: libzstd.so.1, not libzstd.so.1.5.4.
  file(REAL_PATH ${library} library)
  get_filename_component(name ${library} NAME)
  string(REGEX REPLACE "(\\.so\\.[0-9]+)\\..*" "\\1" name ${name})
  install(FILES ${library} DESTINATION . COMPONENT wheel RENAME ${name} EXCLUDE_FROM_ALL)
endforeach()
