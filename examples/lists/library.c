#include "library.h"
static long searched;
long lists_searched(void) { return searched; }
long list_index_of(const list *l, long e) {
    searched++;
    for (long i = 0; i < l->size; i++)
        if (l->at[i] == e) return i;
    return -1;
}
int list_contains(const list *l, long e) { return list_index_of(l, e) >= 0; }
