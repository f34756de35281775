// PolyBench/C 4.2, linear-algebra/kernels/3mm: G := (A B) (C D).

#include "polybench.h"

enum {
    NI = SIZE(16, 40, 180),
    NJ = SIZE(18, 50, 190),
    NK = SIZE(20, 60, 200),
    NL = SIZE(22, 70, 210),
    NM = SIZE(24, 80, 220)
};

static double A[NI][NK], B[NK][NJ], C[NJ][NM], D[NM][NL], E[NI][NJ], F[NJ][NL], G[NI][NL];

KERNEL kernel_3mm(int ni, int nj, int nk, int nl, int nm, double E[NI][NJ], double A[NI][NK], double B[NK][NJ],
                  double F[NJ][NL], double C[NJ][NM], double D[NM][NL], double G[NI][NL]) {
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            E[i][j] = 0;
            for (int k = 0; k < nk; ++k) E[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < nj; i++)
        for (int j = 0; j < nl; j++) {
            F[i][j] = 0;
            for (int k = 0; k < nm; ++k) F[i][j] += C[i][k] * D[k][j];
        }
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++) {
            G[i][j] = 0;
            for (int k = 0; k < nj; ++k) G[i][j] += E[i][k] * F[k][j];
        }
}

static void initialise(void) {
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NK; j++) A[i][j] = (double)((i * j + 1) % NI) / (5 * NI);
    for (int i = 0; i < NK; i++)
        for (int j = 0; j < NJ; j++) B[i][j] = (double)((i * (j + 1) + 2) % NJ) / (5 * NJ);
    for (int i = 0; i < NJ; i++)
        for (int j = 0; j < NM; j++) C[i][j] = (double)(i * (j + 3) % NL) / (5 * NL);
    for (int i = 0; i < NM; i++)
        for (int j = 0; j < NL; j++) D[i][j] = (double)((i * (j + 2) + 2) % NK) / (5 * NK);
}

static void run(void) { kernel_3mm(NI, NJ, NK, NL, NM, E, A, B, F, C, D, G); }

static uint64_t checksum(void) { return FOLD_DOUBLES(FOLD_START, G); }
