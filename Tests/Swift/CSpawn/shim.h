// The parts of glibc's <spawn.h> that Swift's Glibc module does not show.
#ifndef FETCHD_CSPAWN_SHIM_H
#define FETCHD_CSPAWN_SHIM_H

#include <spawn.h>

// The working folder of the new process (glibc 2.29).
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);

// The new process gets no descriptor of this number or above (glibc 2.34).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

#endif
