// Lists of numbers.
typedef struct list { long size, at[64]; } list;
int list_contains(const list *l, long e);
long list_index_of(const list *l, long e);
long lists_searched(void);
