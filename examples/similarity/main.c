// How alike vectors are, by their angle and by their distance. Prints the sums of both.
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 512, VECTORS = 300, ROUNDS = 6 };

static double cosine(const double *x, const double *y) {
    return cblas_ddot(SIZE, x, 1, y, 1) / (cblas_dnrm2(SIZE, x, 1) * cblas_dnrm2(SIZE, y, 1));
}
static double distance(const double *x, const double *y) {
    return sqrt(cblas_ddot(SIZE, x, 1, x, 1) - 2 * cblas_ddot(SIZE, x, 1, y, 1) + cblas_ddot(SIZE, y, 1, y, 1));
}
// Of the two, `x . y` is one product, and each norm is one with a product that is there.
static double both(const double *x, const double *y, double *apart) {
    double product = cblas_ddot(SIZE, x, 1, y, 1), xx = cblas_ddot(SIZE, x, 1, x, 1);
    double yy = cblas_ddot(SIZE, y, 1, y, 1);
    double angle = cblas_ddot(SIZE, y, 1, x, 1) / (cblas_dnrm2(SIZE, x, 1) * cblas_dnrm2(SIZE, y, 1));
    *apart = sqrt(xx - 2 * product + yy);
    return angle;
}

int main(void) {
    double *all = malloc(sizeof *all * SIZE * VECTORS), angles = 0, distances = 0;
    for (int i = 0; i < SIZE * VECTORS; i++) all[i] = i * 7919L % 1009 / 1009.0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < VECTORS; i++)
            for (int j = 0; j < i; j++) {
                const double *x = all + SIZE * i, *y = all + SIZE * j;
                double apart;
                angles += both(x, y, &apart);
                distances += apart;
            }
    printf("%.6f %.6f\n", angles, distances);
    printf("%.6f %.6f\n", cosine(all, all + SIZE), distance(all, all + SIZE));
    free(all);
    return 0;
}
