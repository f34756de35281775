// A ray tracer: spheres under one light, with shadows and mirrors. Prints a digest of the picture, and on stderr how
// many vectors it took.
#include "library.h"
#include <math.h>
#include <stdio.h>

enum { SPHERES = 8, WIDTH = 960, HEIGHT = 720, DEPTH = 3 };
static const vector *centres[SPHERES], *light;

// Where a ray meets a sphere first, or -1.
static double meets(const vector *from, const vector *along, const vector *centre) {
    double b = vector_dot(vector_sub(centre, from), along);
    const vector *between = vector_sub(from, centre);
    double under = b * b - vector_dot(between, between) + 1;
    if (under < 0) return -1;
    double t = b - sqrt(under);
    return t > 1e-6 ? t : -1;
}

static int nearest(const vector *from, const vector *along, double *distance) {
    int found = -1;
    for (int i = 0; i < SPHERES; i++) {
        double t = meets(from, along, centres[i]);
        if (t > 0 && (found < 0 || t < *distance)) found = i, *distance = t;
    }
    return found;
}

static const vector *unit(const vector *v) { return vector_scale(1 / sqrt(vector_dot(v, v)), v); }

static double bright(const vector *from, const vector *along, int depth) {
    double t = 0;
    int hit = nearest(from, along, &t);
    if (hit < 0) return 0.1;
    const vector *at = vector_add(from, vector_scale(t, along));
    const vector *normal = vector_sub(at, centres[hit]);
    const vector *to_light = unit(vector_sub(light, at));
    double shade = vector_dot(to_light, normal), far = 0;
    if (shade < 0 || nearest(at, to_light, &far) >= 0) shade = 0;
    if (depth == 0) return shade;
    const vector *mirrored = vector_add(along, vector_scale(-2 * vector_dot(along, normal), normal));
    return 0.7 * shade + 0.3 * bright(at, mirrored, depth - 1);
}

int main(void) {
    for (int i = 0; i < SPHERES; i++) centres[i] = vector_new(i % 4 * 2 - 3, i / 4 * 2 - 1, 6 + i % 3);
    light = vector_new(-5, 5, -3);
    const vector *eye = vector_new(0, 0, 0);
    vectors_keep();
    unsigned long digest = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const vector *along = unit(vector_new(x / (double)WIDTH - 0.5, y / (double)HEIGHT - 0.5, 0.6));
            digest = digest * 31 + (unsigned long)(255 * bright(eye, along, DEPTH));
            vectors_forget();
        }
    printf("%lu\n", digest);
    fprintf(stderr, "%ld\n", vectors_made());
    return 0;
}
