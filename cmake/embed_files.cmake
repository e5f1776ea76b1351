# Makes a source file that holds files as bytes: cmake -DOUT=page_files.cpp -DFILES=a;b -P embed_files.cmake
# (apps/observe/page.h declares what it defines).
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char file_${number}[] = {${bytes}'\\0'};\n")
  string(APPEND entries "    {\"${name}\", {file_${number}, sizeof(file_${number}) - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "#include \"apps/observe/page.h\"\n\nnamespace troupe::observe {\nnamespace {\n\n${arrays}\n"
  "constexpr PageFile files[] = {\n${entries}};\n\n}  // namespace\n\n"
  "std::span<const PageFile> page_files() { return files; }\n\n}  // namespace troupe::observe\n")
