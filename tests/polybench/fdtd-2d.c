// PolyBench/C 4.2, stencils/fdtd-2d: electric and magnetic fields in two dimensions, by finite differences in time.

#include "polybench.h"

enum { TMAX = SIZE(20, 40, 100), NX = SIZE(20, 60, 200), NY = SIZE(30, 80, 240) };

static double ex[NX][NY], ey[NX][NY], hz[NX][NY], _fict_[TMAX];

KERNEL kernel_fdtd_2d(int tmax, int nx, int ny, double ex[NX][NY], double ey[NX][NY], double hz[NX][NY],
                      double _fict_[TMAX]) {
    for (int t = 0; t < tmax; t++) {
        for (int j = 0; j < ny; j++) ey[0][j] = _fict_[t];
        for (int i = 1; i < nx; i++)
            for (int j = 0; j < ny; j++) ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (int i = 0; i < nx; i++)
            for (int j = 1; j < ny; j++) ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (int i = 0; i < nx - 1; i++)
            for (int j = 0; j < ny - 1; j++)
                hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}

static void initialise(void) {
    for (int i = 0; i < TMAX; i++) _fict_[i] = i;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            ex[i][j] = (double)i * (j + 1) / NX;
            ey[i][j] = (double)i * (j + 2) / NY;
            hz[i][j] = (double)i * (j + 3) / NX;
        }
}

static void run(void) { kernel_fdtd_2d(TMAX, NX, NY, ex, ey, hz, _fict_); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_DOUBLES(FOLD_DOUBLES(FOLD_START, ex), ey), hz); }
