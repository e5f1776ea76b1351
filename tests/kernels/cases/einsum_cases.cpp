// Samples of Einsum: products, sums, diagonals, broadcasting.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Attributes equation(const char* text) { return {{"equation", std::string(text)}}; }

}  // namespace

void add_einsum_cases(OpCases& cases) {
  const char* const op = "Einsum";
  const Tensor a = filled(Shape{2, 3}), b = filled(Shape{3, 5}, 2), box = filled(Shape{2, 4, 3}, 3),
               square = filled(Shape{3, 3}, 4), row = filled(Shape{3}, 5), one = doubles({}, {7});
  cases.good_in_every_type(op, {a, b}, equation("ij,jk->ik"));
  for (const char* text : {"ij->ij", "ij->ji", "ij->i", "ij->j", "ij->", "ij->iji", "ij->jj", "...->...",
                           "i...->...i", "...j->...", "...j->j..."})
    cases.good(op, {a}, equation(text));
  for (const char* text : {"ii->i", "ii->", "ii->ii", "ij->jij", "...ii->...i", "i...i->..."})
    cases.good(op, {square}, equation(text));
  for (const char* text : {"bij->jib", "bij->bi", "b...->...b", "...ij->j...i", "i...j->j..."})
    cases.good(op, {box}, equation(text));
  for (const char* text :
       {"ij,jk->ki", "ij,jk->ijk", "ij,jk->", "ij,jk->j", "ij,kl->ijkl", "ij,jk->iik", "Ij,jK->KI"})
    cases.good(op, {a, b}, equation(text));
  for (const char* text : {"bij,jk->bik", "bij,jk->kbi", "...j,jk->...k", "bi...,...k->bik...", "bij,jk->bk"})
    cases.good(op, {box, b}, equation(text));
  for (const char* text : {"bij,bij->b", "bij,bkj->bik", "bij,bik->bjk", "bji,bki->kj", "...ij,...kj->i...k"})
    cases.good(op, {box, box}, equation(text));
  cases.good(op, {filled(Shape{2, 1, 3}), filled(Shape{4, 3}, 2)}, equation("...j,...j->..."));
  cases.good(op, {filled(Shape{3, 1, 2}), filled(Shape{3, 4, 5}, 2)}, equation("j...i,j...->...i"));
  cases.good(op, {filled(Shape{1, 3}), filled(Shape{2, 5, 3}, 2)}, equation("...j,...j->j..."));
  cases.good(op, {square, row}, equation("ii,i->i"));
  cases.good(op, {square, row}, equation("ii,i->ii"));
  cases.good(op, {a, row}, equation("ij,j->i"));
  cases.good(op, {one, a}, equation(",ij->ij"));
  cases.good(op, {one, one}, equation(",->"));
  cases.good(op, {one}, equation("->"));
  cases.good(op, {filled(Shape{2, 0}), filled(Shape{0, 3})}, equation("ij,jk->ik"));
  cases.good(op, {filled(Shape{0, 3}), b}, equation("ij,jk->ik"));
  cases.good(op, {filled(Shape{0, 3})}, equation("ij->j"));
  cases.good(op, {large(Shape{8, 65, 70}), large(Shape{8, 90, 70}, 2)}, equation("bij,bkj->bki"));
  cases.good(op, {large(Shape{301, 403})}, equation("ij->j"));
  cases.bad(op, {a, a}, equation("ij,jk->ik"), "dimensions 3 and 2 for label j");
  cases.bad(op, {filled(Shape{1, 3}), a}, equation("ai,ai->a"), "dimensions 1 and 2 for label a");
  cases.bad(op, {a, filled(Shape{4, 3})}, equation("...j,...j->..."), "dimensions 2 and 4 for label ...");
  cases.bad(op, {a}, equation("ij->ik"), "label k of the result is in no input");
  cases.bad(op, {a, b}, equation("ij,jk"), "must have one \"->\"");
  cases.bad(op, {a}, equation(""), "must have one \"->\"");
  cases.bad(op, {a}, equation("ij->i->j"), "must have one \"->\"");
  cases.bad(op, {a}, equation("ij,jk->ik"), "is of 2 inputs, there are 1");
  cases.bad(op, {a, b, b}, equation("ij,jk,jk->ik"), "it takes 1 or 2");
  cases.bad(op, {a}, equation("ijk->i"), "an input has 2 dimensions, its labels are 3");
  cases.bad(op, {a}, equation("i->i"), "an input has 2 dimensions, its labels are 1");
  cases.bad(op, {a}, equation("ijk...->i..."), "an input has 2 dimensions, its labels are 3");
  cases.bad(op, {box}, equation("...ij->ij"), "\"...\" stands for 1 dimensions");
  cases.bad(op, {a}, equation("......ij->ij"), "at most one \"...\"");
  cases.bad(op, {a}, equation("..ij->ij"), "at most one \"...\"");
  cases.bad(op, {a}, equation("i j->ij"), "must be letters");
  cases.bad(op, {strings({"a"})}, equation("i->i"), "string", Code::NotFound);
}

}  // namespace troupe::test
