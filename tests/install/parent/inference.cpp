#include <troupe/inference.h>

int main(int, char** arguments) { return troupe::load(arguments[1]).signatures().empty() ? 1 : 0; }
