# Makes a source file with a function that returns files as text, in the order in which they are given:
#   cmake -DOUT=page_files.cpp -DFILES=a;b -DHEADER=apps/observe/page.h -DNAMESPACE=troupe::observe -DTYPE=PageFile
#         -DFUNCTION=page_files -P embed_files.cmake
# HEADER declares TYPE, a struct of a name and a text, and FUNCTION, which returns a std::span<const TYPE>.
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
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\nnamespace {\n\n${arrays}\n"
  "constexpr ${TYPE} files[] = {\n${entries}};\n\n}  // namespace\n\n"
  "std::span<const ${TYPE}> ${FUNCTION}() { return files; }\n\n}  // namespace ${NAMESPACE}\n")
