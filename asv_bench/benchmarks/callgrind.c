/* Switches of Callgrind, which outside Valgrind do nothing. */
#include <valgrind/callgrind.h>

void start_watching(void) { CALLGRIND_START_INSTRUMENTATION; }

void toggle_counting(void) { CALLGRIND_TOGGLE_COLLECT; }

/* Write the counts since the last dump under a name. */
void dump_counts(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
