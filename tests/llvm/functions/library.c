// What `program.c` calls. A call of `matrix_trace_symmetric` on what is not symmetric ends the program; `cube` and
// `list_contains` count, so that the number of calls tells which were replaced.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct matrix { int n, symmetric; double at[9]; } matrix;
typedef struct list { int n, at[4]; } list;
static int counted;
int calls(void) { return counted; }
matrix *matrix_make(int n) {
    matrix *m = calloc(1, sizeof *m);
    m->n = n;
    for (int i = 0; i < n * n; i++) m->at[i] = i + 1;
    return m;
}
matrix *matrix_gram(matrix *a) {
    matrix *m = matrix_make(a->n);
    m->symmetric = 1;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->n; j++) {
            m->at[i * a->n + j] = 0;
            for (int k = 0; k < a->n; k++) m->at[i * a->n + j] += a->at[i * a->n + k] * a->at[j * a->n + k] / 64;
        }
    return m;
}
matrix *matrix_copy(matrix *a) {
    matrix *m = matrix_make(a->n);
    counted += 100000000;
    m->symmetric = a->symmetric;
    for (int i = 0; i < a->n * a->n; i++) m->at[i] = a->at[i];
    return m;
}
double matrix_trace(matrix *a) {
    double t = 0;
    for (int i = 0; i < a->n; i++) t += a->at[i * a->n + i];
    counted += 1;
    return t;
}
double matrix_trace_symmetric(matrix *a) {
    if (!a->symmetric) abort();
    counted -= 1;
    return matrix_trace(a);
}
void matrix_scale(matrix *a, double x) {
    counted += 100;
    for (int i = 0; i < a->n * a->n; i++) a->at[i] *= x;
}
double square(double x) { return x * x; }
double cube(double x) { counted += 10000; return x * square(x); }
list *list_make(void) {
    static list l = {4, {3, 4, 5, 1}};
    return &l;
}
int list_index_of(list *l, int e) {
    for (int i = 0; i < l->n; i++) if (l->at[i] == e) return i;
    return -1;
}
int list_contains(list *l, int e) { counted += 1000000; return list_index_of(l, e) >= 0; }
void report(double x) { printf("report %g\n", x); }
int16_t smaller(int16_t x) { return x / 2; }
int16_t small(int16_t x) { counted += 10000000; return smaller(x); }
