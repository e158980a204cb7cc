# Run by the build: makes OUTPUT, C++ that holds every file of FOLDER for proxy/admin/answers.hpp.
#     cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_png "image/png")
set(type_ico "image/x-icon")

file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(contents "")
set(table "")
set(number 0)
foreach(file IN LISTS files)
    get_filename_component(ending ${file} LAST_EXT)
    string(SUBSTRING "${ending}" 1 -1 ending)
    if(NOT DEFINED type_${ending})
        message(FATAL_ERROR "${FOLDER}/${file}: embed.cmake knows no type for this ending")
    endif()
    set(path "/${file}")
    if(file STREQUAL "index.html")
        set(path "/")
    endif()
    file(READ ${FOLDER}/${file} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND contents "constexpr unsigned char file_${number}[] = {\n${hex}};\n")
    string(APPEND table "    {\"${path}\", \"${type_${ending}}\", text_of(file_${number})},\n")
    math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT} "// Made by proxy/admin/embed.cmake.
#include \"proxy/admin/answers.hpp\"

namespace culvert::admin {
namespace {

${contents}
template <std::size_t size>
std::string_view text_of(const unsigned char (&bytes)[size]) {
    return {reinterpret_cast<const char*>(bytes), size};
}

const asset files[] = {
${table}};

}  // namespace

std::span<const asset> assets() noexcept {
    return files;
}

}  // namespace culvert::admin
")
