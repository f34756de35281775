// PolyBench/C 4.2, medley/floyd-warshall: the lengths of the shortest paths between all nodes of a graph.

#include "polybench.h"

enum { N = SIZE(60, 180, 500) };

static int path[N][N];

KERNEL kernel_floyd_warshall(int n, int path[N][N]) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}

static void initialise(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            path[i][j] = i * j % 7 + 1;
            if ((i + j) % 13 == 0 || (i + j) % 7 == 0 || (i + j) % 11 == 0) path[i][j] = 999;
        }
}

static void run(void) { kernel_floyd_warshall(N, path); }

static uint64_t checksum(void) { return FOLD_INTS(FOLD_START, path); }
