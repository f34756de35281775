# Compiles HiGHS, the only dependency that CMake builds, in a third of the time: sixteen files are one unit, because
# parsing their common headers takes longer than the rest, and debug builds use -O1 instead of -O3.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
if("$ENV{PROFILE}" STREQUAL "debug")
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG" CACHE STRING "optimisation of HiGHS in debug builds")
endif()
