// PolyBench/C 4.2, medley/nussinov: how many bases of RNA can pair when it folds, by dynamic programming.

#include "polybench.h"

enum { N = SIZE(60, 180, 500) };

typedef char base;

#define match(b1, b2) ((b1) + (b2) == 3 ? 1 : 0)
#define max_score(s1, s2) ((s1) >= (s2) ? (s1) : (s2))

static base seq[N];
static int table[N][N];

KERNEL kernel_nussinov(int n, base seq[N], int table[N][N]) {
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            if (j - 1 >= 0) table[i][j] = max_score(table[i][j], table[i][j - 1]);
            if (i + 1 < n) table[i][j] = max_score(table[i][j], table[i + 1][j]);
            if (j - 1 >= 0 && i + 1 < n) {
                // Neighbours do not pair.
                if (i < j - 1)
                    table[i][j] = max_score(table[i][j], table[i + 1][j - 1] + match(seq[i], seq[j]));
                else
                    table[i][j] = max_score(table[i][j], table[i + 1][j - 1]);
            }
            for (int k = i + 1; k < j; k++) table[i][j] = max_score(table[i][j], table[i][k] + table[k + 1][j]);
        }
}

static void initialise(void) {
    for (int i = 0; i < N; i++) seq[i] = (base)((i + 1) % 4);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) table[i][j] = 0;
}

static void run(void) { kernel_nussinov(N, seq, table); }

static uint64_t checksum(void) { return FOLD_INTS(FOLD_START, table); }
