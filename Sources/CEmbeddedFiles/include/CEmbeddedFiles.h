#ifndef C_EMBEDDED_FILES_H
#define C_EMBEDDED_FILES_H

#include <stddef.h>

/// A file of the repository that is part of the program, unchanged.
typedef struct {
    const char *name;
    const unsigned char *bytes;
    size_t count;
} EmbeddedFile;

/// The files of the dashboard, in Sources/API/Dashboard, and clients/javascript/fetchd.js as client.js.
const EmbeddedFile *embedded_dashboard_files(size_t *count);

/// openapi.yaml, the description of the API.
EmbeddedFile embedded_api_description(void);

#endif
