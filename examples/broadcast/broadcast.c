/* Vectors of doubles, and element-wise functions over them that are computed in one pass when a vector is wanted.
 *
 * A vector is the address of its first element; the words before it are its rank (1) and its length, as in
 * Rewright's array constants. A broadcast that is not computed yet has rank 0. The last few vectors are kept; the
 * memory of older ones is used again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, OPERANDS = 4, KEPT = 16, NOTED = 64 };

typedef struct lazy {
    const char *f;
    int64_t count;
    const double *xs[OPERANDS];
} lazy;

static int64_t vectors, passes;

static int64_t rank(const double *x) { return ((const int64_t *)x)[-1]; }
static int64_t length_of(const double *x) {
    if (rank(x) == 1) return ((const int64_t *)x)[-2];
    return length_of(((const lazy *)x)->xs[0]);
}

static double *new_vector(int64_t n) {
    static struct { double *memory; int64_t room; } kept[KEPT];
    int slot = (int)(vectors++ % KEPT);
    if (kept[slot].room < n) {
        free(kept[slot].memory);
        kept[slot].memory = malloc(sizeof(double) * (n + 2));
        kept[slot].room = n;
    }
    int64_t *header = (int64_t *)kept[slot].memory;
    header[0] = n, header[1] = 1;
    return kept[slot].memory + 2;
}

static lazy *note(const char *f, int64_t count, const double *x, const double *y) {
    static struct { int64_t rank; lazy self; } noted[NOTED];
    static int64_t next;
    lazy *made = &noted[next++ % NOTED].self;
    made->f = f, made->count = count, made->xs[0] = x, made->xs[1] = y;
    return made;
}
lazy *bcast_1(const char *f, const double *x) { return note(f, 1, x, NULL); }
lazy *bcast_2(const char *f, const double *x, const double *y) { return note(f, 2, x, y); }

/* One block of an operand: where it is, or computed into `into`. */
static const double *block(const double *x, int64_t from, int64_t n, double *into) {
    if (rank(x) == 1) return x + from;
    const lazy *l = (const lazy *)x;
    double second[BLOCK];
    const double *a = block(l->xs[0], from, n, into);
    const double *b = l->count == 2 ? block(l->xs[1], from, n, second) : NULL;
    if (!strcmp(l->f, "add"))
        for (int64_t i = 0; i < n; i++) into[i] = a[i] + b[i];
    else if (!strcmp(l->f, "mul"))
        for (int64_t i = 0; i < n; i++) into[i] = a[i] * b[i];
    else if (!strcmp(l->f, "relu"))
        for (int64_t i = 0; i < n; i++) into[i] = a[i] > 0 ? a[i] : 0;
    else if (!strcmp(l->f, "half"))
        for (int64_t i = 0; i < n; i++) into[i] = a[i] / 2;
    else
        abort();
    return into;
}

double *materialize(const lazy *l) {
    int64_t n = length_of((const double *)l);
    double *made = new_vector(n);
    passes++;
    for (int64_t i = 0; i < n; i += BLOCK) block((const double *)l, i, n - i < BLOCK ? n - i : BLOCK, made + i);
    return made;
}

const double *numbers(int64_t n) {
    static double *made;
    if (made && length_of(made) == n) return made;
    int64_t *header = malloc(sizeof(double) * (n + 2));
    header[0] = n, header[1] = 1;
    made = (double *)(header + 2);
    for (int64_t i = 0; i < n; i++) made[i] = (double)(i % 1000 - 500) / 16;
    return made;
}

double sample(const double *x) {
    double sum = 0;
    for (int64_t i = 0, n = length_of(x); i < n; i += 997) sum += x[i];
    return sum;
}

int64_t vectors_made(void) { return vectors; }
int64_t passes_made(void) { return passes; }
