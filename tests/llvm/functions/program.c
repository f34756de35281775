// Calls of `library.c`, of which `pack.rw` speaks.
#include <stdint.h>
#include <stdio.h>
typedef struct matrix matrix;
typedef struct list list;
matrix *matrix_make(int n);
matrix *matrix_gram(matrix *a), *matrix_copy(matrix *a);
double matrix_trace(matrix *a);
void matrix_scale(matrix *a, double x);
double cube(double x);
int list_contains(list *l, int e), list_index_of(list *l, int e);
list *list_make(void);
void report(double x);
int calls(void);
int16_t small(int16_t x), smaller(int16_t x);

// Before and after a change; before it, once is enough.
double scaled(matrix *a) {
    double before = matrix_trace(a) + matrix_trace(a);
    matrix_scale(a, 0.5);
    return before + matrix_trace(a);
}
// A product of a matrix by its transpose stays one, however often.
double repeated(matrix *a, int n) {
    matrix *g = matrix_gram(a);
    for (int i = 0; i < n; i++) g = matrix_gram(g);
    return matrix_trace(g);
}
// Only one of two is symmetric.
double either(matrix *a, int k) { return matrix_trace(k ? matrix_gram(a) : a); }
// One search.
int place(list *l, int e) { return list_contains(l, e) ? list_index_of(l, e) : -7; }
// Through memory.
double kept(matrix *a) {
    matrix *both[2] = {matrix_gram(a), a};
    report(cube(matrix_trace(both[0])));
    return matrix_trace(both[0]) + matrix_trace(both[1]);
}
// One function of C that packs declare at two types.
double copied(matrix *a) { return matrix_trace(matrix_copy(a)) - matrix_trace(matrix_copy(matrix_gram(a))); }
int narrow(int x) { return small((int16_t)x) + smaller(-1); }
int main(void) {
    matrix *a = matrix_make(3);
    list *l = list_make();
    printf("%g %g %g %g %g ", repeated(a, 2), either(a, 0), either(a, 1), kept(a), copied(a));
    printf("%g\n", scaled(a));
    printf("%d %d %d %d %d\n", place(l, 5), place(l, 6), narrow(-3), narrow(100000), calls());
    return 0;
}
