# The foreign libraries, each found once. A library's one home is named beside it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)        # schema/ (schema texts), client/ctl/
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)      # schema/path/path_regex.c
pkg_check_modules(LIBEVENT REQUIRED IMPORTED_TARGET libevent_core) # server/http/, client/ctl/load.c
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)     # base/sha256.c
pkg_check_modules(CRYPT REQUIRED IMPORTED_TARGET libcrypt)       # server/access/password_hash.c
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)    # server/sandbox.c
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)          # base/zstd.c
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)             # server/http/deflater.c
pkg_check_modules(SSL REQUIRED IMPORTED_TARGET libssl>=3.0)        # server/http/tls_*
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.85)     # client/lib/
pkg_check_modules(INIH REQUIRED IMPORTED_TARGET inih)              # server/ini_file.c
pkg_check_modules(AVRO IMPORTED_TARGET avro-c)                     # tests (oracle), bench

find_path(LMDB_INCLUDE lmdb.h REQUIRED)                            # storage/engines/lmdb.c
find_library(LMDB_LIBRARY lmdb REQUIRED)
add_library(lmdb INTERFACE)
target_include_directories(lmdb SYSTEM INTERFACE ${LMDB_INCLUDE})
target_link_libraries(lmdb INTERFACE ${LMDB_LIBRARY})

# Debian's libinih takes longer lines than the 200 bytes of others, if it is told so.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::INIH)
check_symbol_exists(ini_max_line ini.h HAVE_INI_MAX_LINE)
unset(CMAKE_REQUIRED_LIBRARIES)
